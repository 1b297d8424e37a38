import { major, minor, named, patch } from '../change.ts';

/** The rules for append-only files, such as test vectors and lists of error codes. */
export const appendOnlyRules = named('append-only', {
  entryAdded: minor('a member or an element is added', 'Every existing entry is unchanged.'),
  entryRemoved: major(
    'a member or an element is removed, renamed or changed',
    'Others have implemented the entry, so it never changes.',
  ),
  entryDescribed: patch(
    'a `$comment`, `description` or `why` is added, changed or removed',
    'Documentation only: every entry is unchanged.',
  ),
});
