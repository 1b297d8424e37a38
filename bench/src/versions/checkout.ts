import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BenchProblem } from '../bench.ts';
import { currentCommit } from '../commit.ts';
import { createOurSystem } from '../delivery/ours/our-system.ts';
import type { Stack } from '../delivery/stack.ts';
import { startOurContestants } from '../delivery/write/our-contestants.ts';
import type { Defer } from '../with-cleanup.ts';

/**
 * Another checkout of this repository: the first digits of its commit, and its folder, with a slash at its end.
 *
 * @throws {BenchProblem} unless `path` is the folder of an installed checkout
 */
export function readCheckout(path: string | undefined) {
  if (path === undefined)
    throw new BenchProblem('Name the folder of another checkout of this repository: --beside <folder>.');
  const folder = resolve(process.env['INIT_CWD'] ?? '.', path);
  if (!existsSync(resolve(folder, 'apps/webhook-worker/package.json')))
    throw new BenchProblem(`--beside must be the folder of a checkout of this repository, not "${path}".`);
  if (!existsSync(resolve(folder, 'apps/webhook-worker/node_modules')))
    throw new BenchProblem(`"${path}" is not installed. Run \`pnpm install\` there.`);
  const url = pathToFileURL(`${folder}/`);
  return { name: currentCommit(url), folder: url };
}

/** Starts our API and worker of this checkout and of another one, each with a database and a receiver of its own. */
export async function startBoth(
  { postgres, receiver, system }: Stack,
  { name, folder }: ReturnType<typeof readCheckout>,
  { path, migration }: { path: string; migration?: string | undefined },
  defer: Defer,
) {
  const [ourUrl = '', otherUrl = ''] = receiver.origins.map((origin) => `${origin}${path}`);
  const own = await startOurContestants(system, ourUrl, { built: false, defer });
  const otherSystem = await createOurSystem(postgres, 'beside', defer, migration);
  return [own, await startOurContestants(otherSystem, otherUrl, { built: false, defer, name, checkout: folder })];
}
