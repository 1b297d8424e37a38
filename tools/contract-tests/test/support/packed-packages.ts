import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@deedwire/testing';
import type { TestProject } from 'vitest/node';
import { copyWorkspace, workspaceRoot } from './workspace-copy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds with `PackedPackages`. */
    packedPackages: { url: string };
  }
}

interface PackedPackages {
  /** The paths of the tarballs, by the names of their packages. */
  tarballs: Record<string, string>;
  /** What `pnpm packages` has printed. */
  printed: string;
}

/** In the order of their names. */
export const publishedPackages: readonly string[] = globSync('packages/*/package.json', { cwd: workspaceRoot })
  .map((path): { name: string; private?: boolean } => JSON.parse(readFileSync(join(workspaceRoot, path), 'utf8')))
  .filter((manifest) => manifest.private !== true)
  .map(({ name }) => name)
  .toSorted();

/**
 * Global setup of a test project. Runs `pnpm packages` in the process of the test run, when the first test file asks for the
 * tarballs.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-tarballs-'));
  let packing: ReturnType<typeof packPackages> | null = null;
  const server = await listen(
    createServer((_, response) => {
      packing ??= packPackages(folder);
      packing.then(
        (packed) => response.end(JSON.stringify(packed)),
        (error: Error) => response.writeHead(500).end(error.stack),
      );
    }),
  );
  project.provide('packedPackages', { url: `http://127.0.0.1:${server.port}/` });
  return async () => {
    await server.close();
    await packing?.catch(() => null);
    await rm(folder, { recursive: true });
  };
}

async function packPackages(folder: string): Promise<PackedPackages> {
  const workspace = await copyWorkspace({});
  try {
    const printed = await workspace.pnpm('--silent', 'packages', folder);
    const versions = await workspace.versions();
    const tarballs = Object.fromEntries(
      publishedPackages.map((name) => [
        name,
        join(folder, `${name.replace('@', '').replace('/', '-')}-${versions.get(name)}.tgz`),
      ]),
    );
    return { tarballs, printed };
  } finally {
    await workspace.remove();
  }
}

/** The packages, which every file of the test run shares. */
export async function readPackedPackages(): Promise<PackedPackages> {
  // Global setups have no test context.
  const { inject } = await import('vitest');
  const response = await fetch(inject('packedPackages').url);
  if (!response.ok) throw new Error(await response.text());
  return JSON.parse(await response.text());
}

/** The paths of the tarballs of packages. */
export async function tarballsOf(names: readonly string[]): Promise<string[]> {
  const { tarballs } = await readPackedPackages();
  return names.map((name) => tarballs[name] ?? '');
}
