import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Starting git takes longer than its work. What is a file of the repository is read and written here.

/** Runs git as an author who needs no configuration. Returns what it prints. */
export function git(folder: string, ...args: string[]): string {
  const settings = ['commit.gpgsign=false', 'maintenance.auto=false', 'user.name=Ada', 'user.email=ada@example.com'];
  return execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Makes a folder an empty repository with the branch main. */
export function initRepository(folder: string): void {
  for (const path of ['objects', 'refs/heads', 'refs/remotes/origin'])
    mkdirSync(join(folder, '.git', path), { recursive: true });
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git/config'), '[core]\nrepositoryformatversion = 0\nbare = false\n');
}

/** The id of the commit that is checked out. */
export function headOf(folder: string): string {
  const head = readFileSync(join(folder, '.git/HEAD'), 'utf8').trim();
  return head.startsWith('ref: ') ? readFileSync(join(folder, '.git', head.slice(5)), 'utf8').trim() : head;
}

/** Commits all files of a repository. Returns the id of the commit. */
export function commitAll(folder: string, message = 'A commit'): string {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', message);
  return headOf(folder);
}

/** Makes a folder a repository with one commit of its files. */
export function commitFirst(folder: string): void {
  once('first', folder, () => {
    initRepository(folder);
    commitAll(folder);
  });
}

/**
 * Makes a folder a repository in which the versions of the packages are released, and merged into `origin/main`: one commit
 * has version 0.0.0 of each package, and the next one raises it and contains the other files.
 */
export function commitRelease(folder: string): void {
  once('release', folder, (files) => {
    initRepository(folder);
    const begin = files.filter(({ path }) => /(?:^|\/)package\.json$/.test(path));
    const stream = [
      commitCommand('Begin'),
      ...begin.map(({ path, mode, text }) =>
        modify(path, mode, Buffer.from(text.toString().replace(/(?<="version":\s*")[^"]*/, '0.0.0'))),
      ),
      commitCommand('Release'),
      ...files.map(({ path, mode, text }) => modify(path, mode, text)),
    ];
    const stdio = ['pipe', 'ignore', 'inherit'] as const;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, input: Buffer.concat(stream), stdio: [...stdio] });
    git(folder, 'add', '--all');
    merge(folder);
  });
}

/** The repositories that were made, by the files that they contain: many tests begin with the same one. */
const repositories = new Map<string, readonly CommittedFile[]>();

/** Makes a folder a repository, or copies the repository that was made of the same files before. */
function once(kind: string, folder: string, make: (files: readonly CommittedFile[]) => void): void {
  const files = filesIn(folder);
  const key = JSON.stringify([kind, ...files.map(({ path, mode, text }) => [path, mode, text.toString('base64')])]);
  const known = repositories.get(key);
  if (known === undefined) {
    make(files);
    repositories.set(key, filesIn(join(folder, '.git')));
    return;
  }
  for (const { path, text } of known) {
    mkdirSync(dirname(join(folder, '.git', path)), { recursive: true });
    writeFileSync(join(folder, '.git', path), text);
  }
}

interface CommittedFile {
  readonly path: string;
  readonly mode: string;
  readonly text: Buffer;
}

function filesIn(folder: string): CommittedFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file);
    if (entry.isDirectory() || /(?:^|\/)(?:\.git|node_modules)\//.test(path)) return [];
    if (entry.isSymbolicLink()) return [{ path, mode: '120000', text: readlinkSync(file, 'buffer') }];
    return [{ path, mode: '100644', text: readFileSync(file) }];
  });
}

function commitCommand(message: string): Buffer {
  return Buffer.from(
    `commit refs/heads/main\ncommitter Ada <ada@example.com> 1767225600 +0000\ndata ${message.length}\n${message}\n`,
  );
}

function modify(path: string, mode: string, text: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`M ${mode} inline ${path}\ndata ${text.length}\n`), text, Buffer.from('\n')]);
}

/** Moves `origin/main` to the current commit, as if the changes were merged. */
export function merge(folder: string): void {
  const remote = join(folder, '.git/refs/remotes/origin');
  mkdirSync(remote, { recursive: true });
  writeFileSync(join(remote, 'main'), `${headOf(folder)}\n`);
  writeFileSync(join(remote, 'HEAD'), 'ref: refs/remotes/origin/main\n');
}
