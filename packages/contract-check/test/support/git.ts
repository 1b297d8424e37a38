import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs git as an author who needs no configuration. Returns what it prints. */
export function git(folder: string, ...args: string[]): string {
  const author = ['-c', 'commit.gpgsign=false', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', [...author, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Commits all files of a repository. Returns the id of the commit. */
export function commitAll(folder: string, message = 'A commit'): string {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(folder, 'rev-parse', 'HEAD').trim();
}

/**
 * Makes a folder a repository in which the versions of the packages are released, and merged into `origin/main`: one commit
 * has version 0.0.0 of each package, and the next one raises it and contains the other files.
 */
export function commitRelease(folder: string): void {
  git(folder, 'init', '--quiet', '--initial-branch=main');
  const manifests = globSync('**/package.json', { cwd: folder, exclude: ['**/node_modules/**'] });
  const texts = manifests.map((path) => [join(folder, path), readFileSync(join(folder, path), 'utf8')] as const);
  for (const [file, text] of texts) writeFileSync(file, text.replace(/(?<="version":\s*")[^"]*/, '0.0.0'));
  git(folder, 'add', '--', ...manifests);
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'Begin');
  for (const [file, text] of texts) writeFileSync(file, text);
  commitAll(folder, 'Release');
  merge(folder);
}

/** Moves `origin/main` to the current commit, as if the changes were merged. */
export function merge(folder: string): void {
  git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  git(folder, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
}
