import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { changeBy, report, type Report } from '../change.ts';
import { openRepository } from '../history/repository.ts';
import { pathFromRoot } from '../source/git-files.ts';
import { isPattern } from '../source/package-files.ts';
import { kindOfPlace, splitPlace } from '../source/place.ts';
import { workspaceRules } from '../workspace/rules.ts';

/**
 * The report about a file that a commit does not have yet, or that was deleted since. A pull request that adds the first
 * version of a contract, or deletes a contract, has to get a verdict. Null if both files or none exist, or the places are
 * others than a file of a commit and the local file at the same path.
 */
export function oneSidedReport(from: readonly string[], to: readonly string[]): Report | null {
  const [before, now] = [from[0] ?? '', to[0] ?? ''];
  if (from.length !== 1 || to.length !== 1) return null;
  if (kindOfPlace(before) !== 'git' || kindOfPlace(now) !== 'local' || isPattern(now)) return null;
  const { files, path: named } = splitPlace(before);
  const ref = files.slice('git:'.length);
  const repository = openRepository('.');
  const commit = ref === '' ? null : (repository?.commitOf(ref) ?? null);
  if (repository === null || commit === null || (named !== null && isPattern(named))) return null;
  const local = pathFromRoot(ref, `./${relative('.', now).replaceAll(sep, '/')}`, '.');
  const path = named === null ? local : pathFromRoot(ref, named, '.');
  // A missing file at another path is more likely a mistake.
  if (path !== local) return null;
  const wasThere = repository.git('ls-tree', '--full-tree', '--name-only', commit, '--', path) !== '';
  const location = { file: now, line: null };
  if (!wasThere && existsSync(now))
    return report([
      { ...changeBy(workspaceRules.contractAdded, now, `${now} was added.`), location, oldLocation: null },
    ]);
  if (wasThere && !existsSync(now)) {
    const oldLocation = { file: `git:${ref}:${path}`, line: null };
    return report([{ ...changeBy(workspaceRules.contractRemoved, now, `${now} was removed.`), location, oldLocation }]);
  }
  return null;
}
