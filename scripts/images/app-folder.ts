import { mkdtempDisposable, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packageManager } from '../../tools/dev-environment/src/workspace.ts';
import type { Build } from './build.ts';
import { run } from './command.ts';
import { copyTree, writeReadable } from './copy-tree.ts';

/** What a package contains for its developers, directly in its folder. */
const developersFolder = /^(?:tests?|__tests__|docs|examples?|benchmarks?)$/;

const license = /^(?:licen[cs]e|notice|copying)/i;

/** What no app reads: source maps, types, sources, documentation, tests, and the files of package managers. */
function isRead(path: string, isFolder: boolean): boolean {
  const name = basename(path);
  if (isFolder) {
    const isOfPackage = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@]+\/[^/]+$/.test(path);
    return !name.startsWith('.') && !(isOfPackage && developersFolder.test(name));
  }
  if (license.test(name)) return true;
  return !/^\.|^pnpm-|\.(?:map|[cm]?ts|md|markdown|flow|sh)$|\.(?:test|spec)\.[cm]?js$/.test(name);
}

/**
 * Writes an app with its dependencies to a folder: the output of `pnpm deploy` without what no app reads. The content depends
 * on the commit only.
 */
export async function deployApp(app: string, build: Build, folder: string): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'deedwire-deploy-'));
  const deployed = join(temporary.path, app);
  // The names of folders in `.pnpm`, and the dependencies in package.json, contain the path of the workspace.
  const options = ['--prod', '--config.node-linker=hoisted'];
  await run('npx', ['-y', packageManager, '--filter', build.packages[app] ?? app, 'deploy', ...options, deployed]);
  await rm(folder, { recursive: true, force: true });
  await copyTree(deployed, folder, { keep: isRead, hasPrograms: false });
  const { name, version, type, engines } = JSON.parse(await readFile(join(deployed, 'package.json'), 'utf8'));
  await writeReadable(join(folder, 'package.json'), `${JSON.stringify({ name, version, type, engines }, null, 2)}\n`);
  const contracts = JSON.parse(await readFile(join(deployed, 'dist/contracts.json'), 'utf8'));
  const stamped = `${JSON.stringify({ ...contracts, commit: build.commit }, null, 2)}\n`;
  await writeReadable(join(folder, 'dist/contracts.json'), stamped);
  // For deploy/systemd.
  await writeReadable(join(folder, 'build.env'), `DEEDWIRE_COMMIT=${build.commit}\n`);
}
