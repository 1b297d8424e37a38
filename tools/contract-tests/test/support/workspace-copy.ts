import { existsSync, globSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { succeed } from './command.ts';

export const workspaceRoot = join(import.meta.dirname, '../../../..');

/** An installed copy of this workspace, in a separate git repository. */
export interface WorkspaceCopy {
  folder: string;
  /** The environment of the commands of the copy, in addition to that of this process. */
  env: Readonly<Record<string, string>>;
  /** Runs pnpm in the copy. Rejects with its complete output if it fails. */
  pnpm(...args: string[]): Promise<string>;
  git(...args: string[]): Promise<string>;
  commitAll(message: string): Promise<void>;
  edit(path: string, change: (text: string) => string): Promise<void>;
  writeChangeset(name: string, bump: 'patch' | 'minor' | 'major', packageName: string): Promise<void>;
  /** Returns the version of each package, by package name. */
  versions(): Promise<Map<string, string>>;
  /** Creates an empty folder in the copy. Git ignores it, and `remove` deletes it. */
  scratchFolder(): Promise<string>;
  remove(): Promise<void>;
}

export async function copyWorkspace(variables: Readonly<Record<string, string>>): Promise<WorkspaceCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-workspace-'));
  const { packageManager }: { packageManager: string } = await readJson(join(workspaceRoot, 'package.json'));

  const git = (...args: string[]): Promise<string> => succeed('git', args, { cwd: folder });
  // npx takes half a second for each call, so it only looks up the program.
  const program = await succeed('npx', ['-y', '-p', packageManager, '-c', 'command -v pnpm'], { cwd: folder });
  const PATH = [dirname(program), process.env['PATH']].join(delimiter);
  // All copies share the cache of this workspace, so that an unchanged package is built once.
  const env = { ...variables, PATH, TURBO_CACHE_DIR: join(workspaceRoot, '.turbo/cache') };
  const pnpm = (...args: string[]): Promise<string> => succeed('pnpm', args, { cwd: folder, env });
  const commitAll = async (message: string): Promise<void> => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
  };

  const listed = await succeed('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: workspaceRoot,
  });
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(workspaceRoot, file)));
  for (const parent of new Set(files.map((file) => dirname(file))))
    await mkdir(join(folder, parent), { recursive: true });
  await Promise.all(files.map((file) => copyFile(join(workspaceRoot, file), join(folder, file))));
  await git('init', '--quiet', '--initial-branch=main');
  // The copy reads the objects of this repository, so that `git add` does not compress and write the same files again.
  const objects = ['rev-parse', '--path-format=absolute', '--git-path', 'objects'];
  await writeFile(join(folder, '.git/objects/info/alternates'), await succeed('git', objects, { cwd: workspaceRoot }));
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.com');
  await commitAll('Copy the workspace');
  await pnpm('install', '--frozen-lockfile', '--prefer-offline');
  // The results of the type checks, so that the copy checks only what a test changes.
  const caches = globSync(['{packages,apps,tools}/*/node_modules', 'examples/orders/node_modules'], {
    cwd: folder,
  }).map((path) => join(path, '.cache'));
  for (const path of caches.filter((cache) => existsSync(join(workspaceRoot, cache))))
    await cp(join(workspaceRoot, path), join(folder, path), { recursive: true });

  return {
    folder,
    env,
    pnpm,
    git,
    commitAll,
    async edit(path, change) {
      const file = join(folder, path);
      const text = await readFile(file, 'utf8');
      const changed = change(text);
      if (changed === text) throw new Error(`The edit does not change ${path}.`);
      await writeFile(file, changed);
    },
    async writeChangeset(name, bump, packageName) {
      await writeFile(join(folder, '.changeset', `${name}.md`), `---\n'${packageName}': ${bump}\n---\n\nA test.\n`);
    },
    async versions() {
      const paths = globSync('{packages,apps,tools}/*/package.json', { cwd: folder });
      const manifests = await Promise.all(
        paths.map((path) => readJson<{ name: string; version: string }>(join(folder, path))),
      );
      return new Map(manifests.map(({ name, version }) => [name, version]));
    },
    scratchFolder: () => mkdtemp(join(folder, 'node_modules/.scratch-')),
    async remove() {
      await rm(folder, { recursive: true });
    },
  };
}

async function readJson<Value>(file: string): Promise<Value> {
  return JSON.parse(await readFile(file, 'utf8'));
}
