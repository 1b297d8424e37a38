import { compareApiReports } from '../api/compare-api-reports.ts';
import { compareAppendOnly } from '../append-only/compare-append-only.ts';
import type { Report } from '../change.ts';
import { compareOrRepair } from '../compare-or-repair.ts';
import type { ComparisonSettings, ContractKind } from '../config/config.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import type { SourceText } from '../text-file.ts';

/**
 * Compares two contracts of one kind. The old one can be invalid.
 *
 * @param existed whether the old schema had a coordinate, for limits and weights of manifests
 */
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
