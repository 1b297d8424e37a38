import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

/** A folder outside the workspace in which this package is built and installed. */
export interface BuiltPackages {
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Compiles this package and those that it depends on, as their build does, and links what they import.
 *
 * @param events packages of events that are installed too
 * @param peers optional dependencies of this package that are installed too
 */
export async function installBuiltPackages(
  events: readonly string[] = [],
  peers: readonly string[] = [],
): Promise<BuiltPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-built-'));
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await Promise.all([
    writeFile(join(folder, 'package.json'), '{ "type": "module" }'),
    ...[...events, 'webhook-receiver', 'webhook-signing'].map((name) => install(name, modules)),
    ...['hono', 'zod', ...peers].map((name) =>
      symlink(join(packages, 'webhook-receiver/node_modules', name), join(modules, name), 'dir'),
    ),
  ]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

async function install(name: string, modules: string): Promise<void> {
  const source = join(packages, name);
  const target = join(modules, '@deedwire', name);
  await mkdir(target, { recursive: true });
  const { publishConfig, ...manifest } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  await writeFile(
    join(target, 'package.json'),
    JSON.stringify({ ...manifest, exports: publishConfig?.exports ?? manifest.exports }),
  );
  // The types of the other packages are not built.
  const options = ['--noCheck', '--declaration', 'false', '--isolatedDeclarations', 'false'];
  const build = ['-p', join(source, 'tsconfig.build.json'), '--outDir', join(target, 'dist')];
  await promisify(execFile)(process.execPath, [tsc, ...build, ...options]);
}
