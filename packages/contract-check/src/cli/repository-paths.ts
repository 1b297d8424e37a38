import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { kindOfPlace } from '../source/place.ts';
import type { Outcome } from './outcome.ts';

/**
 * The outcome with the paths of files from the root of the repository, where GitHub and code scanning look for them. A file of a
 * commit has such a path already.
 */
export function fromRepositoryRoot(outcome: Outcome, githubWorkspace: string | undefined): Outcome {
  const folder = realpathSync('.');
  const root = repositoryRoot(folder, githubWorkspace);
  const pathOf = (file: string): string => {
    if (kindOfPlace(file) !== 'local' || file === 'standard input') return file;
    const path = relative(root, resolve(folder, file));
    // A file outside of the repository.
    return path.startsWith('..') ? resolve(folder, file) : path.replaceAll(sep, '/');
  };
  const placed = <T extends { readonly file: string }>(location: T): T => ({
    ...location,
    file: pathOf(location.file),
  });
  return {
    ...outcome,
    groups: outcome.groups.map((group) => ({
      ...group,
      findings: group.findings.map(({ level, change }) => ({
        level,
        change: {
          ...change,
          location: placed(change.location),
          oldLocation: change.oldLocation === null ? null : placed(change.oldLocation),
        },
      })),
    })),
    notices: outcome.notices.map((notice) => ({ ...notice, location: placed(notice.location) })),
  };
}

function repositoryRoot(folder: string, githubWorkspace: string | undefined): string {
  try {
    const args = ['rev-parse', '--show-toplevel'];
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd();
  } catch {
    // Git is missing, or does not trust the owner of the folder, as in some containers.
    return realpathSync(githubWorkspace || folder);
  }
}
