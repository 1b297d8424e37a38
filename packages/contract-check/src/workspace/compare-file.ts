import { compareApiReports } from '../api/compare-api-reports.ts';
import { compareAppendOnly } from '../append-only/compare-append-only.ts';
import type { Report } from '../change.ts';
import type { ComparisonSettings, ContractKind } from '../config/config.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import type { SourceText } from '../text-file.ts';

/**
 * Compares two contracts of one kind.
 *
 * @param existed whether the old schema had a coordinate, for limits and weights of manifests
 * @throws {InputError} when a contract is invalid.
 */
export function compareFile(
  kind: ContractKind,
  from: SourceText,
  to: SourceText,
  settings: ComparisonSettings,
  existed: () => (coordinate: string) => boolean = () => () => true,
): Report {
  switch (kind) {
    case 'graphql':
      return compareGraphql(from, to, settings);
    case 'json-schema':
      return compareJsonSchemas(from, to, settings);
    case 'manifest':
      return compareManifests(from, to, { existed: existed() });
    case 'api':
      return compareApiReports(from, to, settings);
    case 'append-only':
      return compareAppendOnly(from, to);
  }
}
