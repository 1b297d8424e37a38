import { basename } from 'node:path';
import { compareApiReports } from '../api/compare-api-reports.ts';
import { compareAppendOnly } from '../append-only/compare-append-only.ts';
import { changeBy, report, type Report } from '../change.ts';
import type { ComparisonSettings, ContractKind } from '../config/config.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { InputError } from '../input-error.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import type { SourceText } from '../text-file.ts';
import { workspaceRules } from './rules.ts';

/** Compares two contracts of one kind, of which the old one can be invalid. `existed` is for coordinates in manifests. */
export function compareFile(
  kind: ContractKind,
  from: SourceText,
  to: SourceText,
  settings: ComparisonSettings,
  existed: () => (coordinate: string) => boolean = () => () => true,
): Report {
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
}

/** Compares two contracts. If only the old one is invalid, the repair is one major change, which an exception can allow. */
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
