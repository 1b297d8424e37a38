import { existsSync, realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { changeBy, report, type Report } from '../change.ts';
import { openRepository, type Repository } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import { isPattern } from '../source/package-files.ts';
import { foldersAround } from '../source/project.ts';
import { kindOfPlace, splitPlace } from '../source/read-source.ts';
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
  // A hook of a server: which path of the repository the local file has is unknown.
  if (!repository.hasWorkingTree) return null;
  const local = repository.fromRoot(`./${relative('.', now).replaceAll(sep, '/')}`);
  const path = named === null ? local : repository.fromRoot(named);
  // A missing file at another path is more likely a mistake.
  if (path !== local) return null;
  // Without the root, whose entries git would list.
  const withFolders = foldersAround(path).slice(0, -1);
  const entries = repository.git('ls-tree', '--full-tree', '-z', commit, '--', ...withFolders).split('\0');
  const wasThere = entries.some((entry) => entry.endsWith(`\t${path}`));
  // A submodule or a link to a folder: the commit does not have the files in it.
  const [, , outside] = entries.map((entry) => /^(120000|160000) .*\t(.*)$/s.exec(entry)).find((found) => found) ?? [];
  if (!wasThere && outside !== undefined)
    failAt(
      `git:${ref}:${path}`,
      `the commit has no files in ${outside}, which is a submodule or a symbolic link. Compare in the repository that contains the file.`,
    );
  const location = { file: now, line: null };
  if (!wasThere && existsSync(now)) {
    const file = relative(realpathSync('.'), realpathSync(now));
    // The commit can have the file at another path, through which it is compared.
    if (file !== relative('.', now))
      failAt(now, `is reached through a symbolic link. Pass the path of the file, ${file}`);
    const change = changeBy(workspaceRules.contractAdded, now, `${now} was added.`);
    const moved = renamedFrom(repository, commit, path);
    const message = `${moved} has a similar text and was moved here. To compare with it: --from git:${ref}:${moved}`;
    return report([{ ...change, location, oldLocation: null }], moved === undefined ? [] : [{ location, message }]);
  }
  if (wasThere && !existsSync(now)) {
    if (repository.git('ls-files', '-t', '--full-name', '--', `:(top,literal)${path}`).startsWith('S '))
      failAt(now, `is not checked out, because the checkout is sparse. Run git sparse-checkout add ${dirname(now)}`);
    const oldLocation = { file: `git:${ref}:${path}`, line: null };
    return report([{ ...changeBy(workspaceRules.contractRemoved, now, `${now} was removed.`), location, oldLocation }]);
  }
  return null;
}

/** The file of a commit that git takes for the former place of a file. */
function renamedFrom(repository: Repository, commit: string, path: string): string | undefined {
  // Of the index: a file of the working tree would pass the filters in .gitattributes, which can be programs.
  const args = ['--cached', '--name-status', '--diff-filter=R', '-M', '-z', '--no-ext-diff', '--no-textconv', commit];
  const found = repository.git('diff-index', ...args).split('\0');
  const at = found.indexOf(path);
  return at === -1 ? undefined : found[at - 1];
}
