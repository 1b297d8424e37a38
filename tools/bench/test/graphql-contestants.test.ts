import { createTestDatabase } from '@deedwire/embedded-postgres';
import { expect, it } from 'vitest';
import { startChild } from '../src/child.ts';
import { startContestants } from '../src/graphql/contestant.ts';
import type { LoadRequest, LoadResult } from '../src/graphql/load-protocol.ts';
import { measureShape } from '../src/graphql/rounds.ts';
import { shapes } from '../src/graphql/shapes.ts';
import { createWorld } from '../src/graphql/world.ts';
import { withCleanup } from '../src/with-cleanup.ts';

const names = ['deedwire', 'mercurius-jit', 'mercurius', 'apollo'];
const positive = expect.toSatisfy((value: unknown) => Number.isFinite(value) && Number(value) > 0);
const plan = { rounds: 1, roundMs: 20, warmUpMs: 20 };

// `measureShape` throws unless all contestants answer the same, and unless every response is complete.
it('measures our apps and all peers, which answer the same', async () => {
  await withCleanup(async (defer) => {
    const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
    defer(() => database.drop());
    const world = await createWorld(database.databaseUrl);
    const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
    defer(() => load.close());
    for (const interfaceName of ['lender', 'partner'] as const) {
      await withCleanup(async (deferUntilNext) => {
        const contestants = await startContestants(world, interfaceName, false, deferUntilNext);
        for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
          const callers = world.callers.get(shape.name) ?? [];
          const results = await measureShape(shape, contestants, callers, load, plan, () => {});
          expect(results.map(({ connections }) => connections)).toEqual([32, 1]);
          for (const { results: each, ratios, p99Ratios } of results) {
            const figures = { requestsPerSecond: positive, p50Ms: positive, p99Ms: positive, residentBytes: positive };
            expect(each).toEqual(names.map((name) => ({ name, ...figures, cpuMicroseconds: expect.any(Number) })));
            const [, ...peers] = names.map((name) => [name, positive]);
            expect([ratios, p99Ratios]).toEqual([Object.fromEntries(peers), Object.fromEntries(peers)]);
          }
        }
      });
    }
  });
});
