import { changeBy, report, type Change, type Report } from '../change.ts';
import type { SourceText } from '../text-file.ts';
import { compareCostWeights } from './compare-cost-weights.ts';
import { compareErrors } from './compare-errors.ts';
import { compareRequestHeaders, compareResponseHeaders } from './compare-headers.ts';
import { compareLimits } from './compare-limits.ts';
import { compareDescriptions, type Found } from './found.ts';
import { readManifest } from './read-manifest.ts';

export interface ManifestOptions {
  /**
   * Returns whether a schema coordinate existed in the old version. A limit or weight of a new coordinate breaks no
   * client. Without this function, every coordinate is assumed to have existed.
   */
  readonly existed?: (coordinate: string) => boolean;
}

/**
 * Compares two manifests.
 *
 * @throws {InputError} when a manifest is invalid.
 */
export function compareManifests(from: SourceText, to: SourceText, options: ManifestOptions = {}): Report {
  const changes: Change[] = [];
  const found: Found = (rule, pointer, message) => {
    changes.push(changeBy(rule, pointer, message));
  };
  const [before, now] = [readManifest(from), readManifest(to)];
  const existed = options.existed ?? (() => true);
  compareDescriptions(found, '', before, now);
  compareErrors(found, before.errors, now.errors);
  compareRequestHeaders(found, before.requestHeaders, now.requestHeaders);
  compareResponseHeaders(found, before.responseHeaders, now.responseHeaders);
  compareLimits(found, existed, '/limits', before.limits, now.limits);
  compareLimits(found, existed, '/pagination', before.pagination, now.pagination);
  compareCostWeights(found, existed, before.costWeights, now.costWeights);
  return report(changes);
}
