import type { Found, Notice } from '../change.ts';
import { compareMembers } from '../compare-members.ts';
import { canonicalJson, childPointer } from '../json/json-value.ts';
import { didYouMean } from '../suggest.ts';
import { knownMembers, type ManifestDocument } from './read-manifest.ts';
import { manifestRules } from './rules.ts';

/** Compares the sections that this version of the tool does not know, each as a whole. */
export function compareUnknownSections(found: Found, from: ManifestDocument, to: ManifestDocument): void {
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

export function unknownSectionNotices({ unknown, document }: ManifestDocument): Notice[] {
  return [...unknown.keys()].map((name) => ({
    location: { file: document.file, line: document.lineOf(childPointer('', name)) },
    message: `The section ${name} is unknown${didYouMean(name, knownMembers)}. It is compared as a whole.`,
  }));
}
