import { named, type RuleText } from '../change.ts';

/** The rules for append-only files, such as test vectors and lists of error codes. */
export const appendOnlyRules = named('append-only', {
  entryAdded: {
    what: 'a member or an element is added',
    verdict: 'minor',
    why: 'Every existing entry is unchanged.',
  },
  entryRemoved: {
    what: 'a member or an element is removed, renamed or changed',
    verdict: 'major',
    why: 'Others have implemented the entry, so it never changes.',
  },
  entryDescribed: {
    what: 'a `$comment`, `description` or `why` is added, changed or removed',
    verdict: 'patch',
    why: 'Documentation only: every entry is unchanged.',
  },
} as const satisfies Record<string, RuleText>);
