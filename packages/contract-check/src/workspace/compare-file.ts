import { basename } from 'node:path';
import { compareApiReports } from '../api/compare-api-reports.ts';
import { compareAppendOnly } from '../append-only/compare-append-only.ts';
import { changeBy, report, type Location, type Report } from '../change.ts';
import type { ComparisonSettings, ContractKind } from '../config/config.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { InputError, TooManyStepsError } from '../input-error.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import type { SourceText } from '../text-file.ts';
import { workspaceRules } from './rules.ts';

/**
 * Compares two contracts of one kind, of which the old one can be invalid. If the comparison takes too long, this is one
 * major change, so that it hides no change of another file. `existed` is for coordinates in manifests.
 */
export function compareFile(
  kind: ContractKind,
  from: SourceText,
  to: SourceText,
  settings: ComparisonSettings,
  existed: () => (coordinate: string) => boolean = () => () => true,
): Report {
  try {
    return compareOrRepair(from, to, to.file, (old, now) => {
      switch (kind) {
        case 'graphql':
          return compareGraphql(old, now, settings);
        case 'json-schema':
          return compareJsonSchemas(old, now, settings);
        case 'manifest':
          return compareManifests(old, now, { existed: existed() });
        case 'api':
          return compareApiReports(old, now, settings);
        case 'append-only':
          return compareAppendOnly(old, now);
      }
    });
  } catch (error) {
    if (!(error instanceof TooManyStepsError)) throw error;
    return wholeFileReport('contractNotCompared', to.file, `The versions cannot be compared: ${error.message}`, null);
  }
}

/**
 * Compares two contracts. If only the old one is invalid, the repair is one major change, which an exception can allow.
 *
 * @throws {TooManyStepsError} when the comparison takes too long.
 */
export function compareOrRepair<T>(from: T, to: T, file: string, compare: (from: T, to: T) => Report): Report {
  try {
    return compare(from, to);
  } catch (error) {
    if (!(error instanceof InputError) || error instanceof TooManyStepsError) throw error;
    compare(to, to);
    const message = `The old version cannot be compared: ${error.message}`;
    return wholeFileReport('contractRepaired', file, message, { file: error.file, line: error.line });
  }
}

function wholeFileReport(
  rule: keyof typeof workspaceRules,
  file: string,
  message: string,
  oldLocation: Location | null,
): Report {
  const change = changeBy(workspaceRules[rule], basename(file), message);
  return report([{ ...change, location: { file, line: null }, oldLocation }]);
}
