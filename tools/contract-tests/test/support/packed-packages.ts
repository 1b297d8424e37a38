import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@deedwire/testing';
import type { TestProject } from 'vitest/node';
import { copyWorkspace } from './workspace-copy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds with the paths of the tarballs, by the names of their packages. */
    packedPackages: { url: string };
  }
}

export const publishedPackages = [
  '@deedwire/contract-check',
  '@deedwire/lender-schema',
  '@deedwire/partner-schema',
  '@deedwire/webhook-events',
  '@deedwire/webhook-receiver',
  '@deedwire/webhook-signing',
];

/**
 * Global setup of a test project. Builds and packs the published packages in the process of the test run, when the first test
 * file asks for them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-tarballs-'));
  let packing: ReturnType<typeof packPackages> | null = null;
  const server = await listen(
    createServer((_, response) => {
      packing ??= packPackages(folder);
      packing.then(
        (tarballs) => response.end(JSON.stringify(tarballs)),
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

/** Packs as `pnpm release` does. */
async function packPackages(folder: string): Promise<Record<string, string>> {
  const workspace = await copyWorkspace({});
  try {
    await workspace.pnpm('exec', 'turbo', 'run', 'build', ...publishedPackages.map((name) => `--filter=${name}`));
    for (const name of publishedPackages) await workspace.pnpm('--filter', name, 'pack', '--pack-destination', folder);
    const versions = await workspace.versions();
    return Object.fromEntries(
      publishedPackages.map((name) => [
        name,
        join(folder, `${name.replace('@', '').replace('/', '-')}-${versions.get(name)}.tgz`),
      ]),
    );
  } finally {
    await workspace.remove();
  }
}

/** The paths of the tarballs of packages, which every file of the test run shares. */
export async function tarballsOf(names: readonly string[]): Promise<string[]> {
  // Global setups have no test context.
  const { inject } = await import('vitest');
  const response = await fetch(inject('packedPackages').url);
  if (!response.ok) throw new Error(await response.text());
  const tarballs: Record<string, string> = JSON.parse(await response.text());
  return names.map((name) => tarballs[name] ?? '');
}
