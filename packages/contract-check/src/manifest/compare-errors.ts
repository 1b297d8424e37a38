import type { Found } from '../change.ts';
import { compareMembers } from '../compare-members.ts';
import { describeDifference } from '../describe-difference.ts';
import { childPointer } from '../json/json-value.ts';
import { compareDescriptions } from './compare-descriptions.ts';
import type { Manifest } from './manifest.ts';
import { manifestRules } from './rules.ts';

export function compareErrors(found: Found, from: Manifest['errors'] = {}, to: Manifest['errors'] = {}): void {
  compareMembers(Object.entries(from), Object.entries(to), {
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
  const compare = (mediaType: string, before: number | null, now: number | null): void => {
    if (before === now) return;
    const rule = before === null ? manifestRules.statusAdded : manifestRules.statusChanged;
    const [old, next] = [before, now].map((status) => status?.toString() ?? null);
    found(rule, childPointer(pointer, mediaType), describeDifference('The status', old ?? null, next ?? null));
  };
  compareMembers(Object.entries(from), Object.entries(to), {
    removed: (mediaType, status) => compare(mediaType, status, null),
    added: (mediaType, status) => compare(mediaType, null, status),
    kept: compare,
  });
}
