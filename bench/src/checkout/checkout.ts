import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchOption, BenchProblem } from '../bench.ts';
import { currentCommit } from '../commit.ts';
import { ours } from '../delivery/workloads.ts';

/** A checkout of this repository, which is installed. */
export interface Checkout {
  /** In tables: for another checkout, the first digits of its commit. */
  readonly name: string;
  /** With a slash at its end. */
  readonly folder: URL;
}

export const thisCheckout: Checkout = { name: ours, folder: new URL('../../../', import.meta.url) };

export const besideOption: BenchOption = { value: 'folder', summary: 'another checkout of this repository, installed' };

/**
 * The checkout that `--beside` names.
 *
 * @throws {BenchProblem} unless `path` is the folder of an installed checkout
 */
export function readCheckout(path: string | undefined): Checkout {
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
