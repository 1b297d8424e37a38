import { basename } from 'node:path';
import { changeBy, report, type Report } from './change.ts';
import { InputError } from './input-error.ts';
import { workspaceRules } from './workspace/rules.ts';

/**
 * Compares two contracts. If only the old one is invalid, the repair is one major change, which an exception can allow.
 *
 * @param compare compares an old version of the contract with the new one
 */
export function compareOrRepair<T>(from: T, to: T, file: string, compare: (from: T, to: T) => Report): Report {
  try {
    return compare(from, to);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    compare(to, to);
    const message = `The old version cannot be compared: ${error.message}`;
    const change = changeBy(workspaceRules.contractRepaired, basename(file), message);
    const oldLocation = { file: error.file, line: error.line };
    return report([{ ...change, location: { file, line: null }, oldLocation }]);
  }
}
