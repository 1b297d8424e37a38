import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { npmInstall } from '../installed-packages.ts';
import { tarballsOf } from '../packed-packages.ts';
import { workspaceRoot } from '../workspace-copy.ts';

/** `examples/orders` in a folder outside of the workspace. */
export interface InstalledOrders {
  folder: string;
  remove(): Promise<void>;
}

/** In the order in which npm installs them: it asks a registry for a dependency that the same command installs. */
export const packagesOfOrders = ['@deedwire/webhook-signing', '@deedwire/service'] as const;

/** What an installation or a reader of the example has written. */
const notCopied = ['node_modules', '.env', 'key.json'];

/**
 * Installs the example with npm.
 *
 * @param tarballs of `packagesOfOrders`. By default, those of this build
 * @param workspace an installed workspace, which has the example. By default, this one
 */
export async function installOrders(tarballs?: readonly string[], workspace = workspaceRoot): Promise<InstalledOrders> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-orders-'));
  const source = join(workspace, 'examples/orders');
  await cp(source, folder, { recursive: true, filter: (path) => !notCopied.includes(basename(path)) });
  const manifest: Manifest = readManifest(folder);
  const others = Object.keys(manifest.dependencies).filter((name) => !name.startsWith('@deedwire/'));
  // npm does not understand `workspace:` and `catalog:`.
  manifest.dependencies = Object.fromEntries(
    others.map((name) => [name, readManifest(join(source, 'node_modules', name)).version]),
  );
  delete manifest.devDependencies;
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  for (const tarball of tarballs ?? (await tarballsOf(packagesOfOrders))) await npmInstall(folder, [tarball]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
