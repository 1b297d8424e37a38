import { locatedReport, type Found, type Notice, type Report } from '../change.ts';
import { compareMembers } from '../differences.ts';
import { canonicalJson, childPointer } from '../json/json-value.ts';
import { pointerLocator } from '../json/parse-json.ts';
import { didYouMean } from '../suggest.ts';
import type { SourceText } from '../text-file.ts';
import { compareAbilities } from './compare-abilities.ts';
import {
  compareDescriptions,
  compareErrors,
  compareRequestHeaders,
  compareResponseHeaders,
} from './compare-entries.ts';
import { compareCosts, compareLimits } from './compare-limits.ts';
import { knownMembers, readManifestDocument, type ManifestDocument } from './manifest.ts';
import { manifestRules } from './rules.ts';

export interface ManifestOptions {
  /**
   * Returns whether a schema coordinate existed in the old version. A limit, weight or ability of a new coordinate breaks no
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
  const [old, next] = [readManifestDocument(from), readManifestDocument(to)];
  const [before, now] = [old.manifest, next.manifest];
  const existed = options.existed ?? (() => true);
  const compare = (found: Found): void => {
    compareDescriptions(found, '', before, now);
    compareErrors(found, before, now);
    compareRequestHeaders(found, before, now);
    compareResponseHeaders(found, before, now);
    compareAbilities(found, existed, before, now);
    compareLimits(found, existed, before, now);
    compareCosts(found, existed, before, now);
    compareUnknownSections(found, old, next);
  };
  const notices = [old, next].flatMap(unknownSectionNotices);
  return locatedReport(pointerLocator(old.document), pointerLocator(next.document), compare, notices);
}

/** Compares the sections that this version of the tool does not know, each as a whole. */
function compareUnknownSections(found: Found, from: ManifestDocument, to: ManifestDocument): void {
  const changed = (name: string, how: string): void =>
    found(manifestRules.sectionUndecided, childPointer('', name), `The section ${name} was ${how}.`);
  compareMembers(from.unknown, to.unknown, {
    removed: (name) => changed(name, 'removed'),
    added: (name) => changed(name, 'added'),
    kept(name, before, now) {
      if (canonicalJson(before) !== canonicalJson(now)) changed(name, 'changed');
    },
  });
}

function unknownSectionNotices({ unknown, document }: ManifestDocument): Notice[] {
  return [...unknown.keys()].map((name) => ({
    location: { file: document.file, line: document.lineOf(childPointer('', name)) },
    message: `The section ${name} is unknown${didYouMean(name, knownMembers)}. It is compared as a whole.`,
  }));
}
