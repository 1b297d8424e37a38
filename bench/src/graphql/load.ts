import { type Child, startChild } from '../child.ts';
import { startBenchPostgres } from '../postgres.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';
import type { LoadRequest, LoadResult } from './load-process.ts';
import { createWorld, type World } from './world.ts';

export type Load = Child<LoadRequest, LoadResult>;

/** Starts the process that sends requests. */
export function startLoad(defer: Defer): Promise<Load> {
  return startChild(defer, './graphql/load-process.ts');
}

/**
 * Starts what every bench of queries needs.
 *
 * @param accountsMax of each shape
 */
export function withWorld<Result>(
  accountsMax: number,
  work: (world: World, load: Load, defer: Defer) => Promise<Result>,
): Promise<Result> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer);
    const world = await createWorld(postgres, { accountsMax });
    return work(world, await startLoad(defer), defer);
  });
}
