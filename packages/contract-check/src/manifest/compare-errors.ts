import { childPointer } from '../json/json-value.ts';
import { compareDescriptions, type Found } from './found.ts';
import type { Manifest } from './manifest.ts';
import { matchMembers } from './match-members.ts';
import { manifestRules } from './rules.ts';

export function compareErrors(found: Found, from: Manifest['errors'], to: Manifest['errors']): void {
  matchMembers(from, to, {
    removed: (code) =>
      found(manifestRules.errorRemoved, childPointer('/errors', code), `The error code ${code} was removed.`),
    added: (code) =>
      found(manifestRules.errorAdded, childPointer('/errors', code), `The error code ${code} was added.`),
    kept(code, before, now) {
      const pointer = childPointer('/errors', code);
      compareDescriptions(found, pointer, before, now);
      compareStatuses(found, `${pointer}/status`, before.status, now.status);
    },
  });
}

type Statuses = Readonly<Record<string, number>>;

function compareStatuses(found: Found, pointer: string, from: Statuses, to: Statuses): void {
  matchMembers(from, to, {
    removed(mediaType, status) {
      found(manifestRules.statusChanged, childPointer(pointer, mediaType), `The status was removed. It was ${status}.`);
    },
    added(mediaType, status) {
      found(manifestRules.statusAdded, childPointer(pointer, mediaType), `The status was added: ${status}.`);
    },
    kept(mediaType, before, now) {
      if (before === now) return;
      found(
        manifestRules.statusChanged,
        childPointer(pointer, mediaType),
        `The status changed from ${before} to ${now}.`,
      );
    },
  });
}
