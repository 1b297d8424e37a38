import type { BenchOptions } from '../bench.ts';
import { readCheckout, thisCheckout } from '../checkout/checkout.ts';
import { startOurs } from '../graphql/contestant.ts';
import { startLoad } from '../graphql/load.ts';
import { measureContestants } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { createWorld } from '../graphql/world.ts';
import { startBenchPostgres } from '../postgres.ts';
import { perSecond, cpuMicroseconds } from '../rounds.ts';
import { withCleanup } from '../with-cleanup.ts';
import { type ComparedFigure, compareValues } from './compare.ts';

/** Requests per second, with the queries of `graphql`. */
export function compareQueries({ quick, values, progress }: BenchOptions) {
  const plan = quick ? { rounds: 2, roundMs: 50, warmUpMs: 50 } : { rounds: 15, roundMs: 700, warmUpMs: 3_000 };
  const other = readCheckout(values['beside']);
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer);
    const worlds = [];
    for (const [database, checkout] of [['ours', thisCheckout] as const, ['other', other] as const]) {
      progress(`Creating the accounts of ${checkout.name}`);
      worlds.push({
        checkout,
        world: await createWorld(postgres, { checkout, database, accountsMax: quick ? 2 : Infinity }),
      });
    }
    const load = await startLoad(defer);
    const figures: ComparedFigure[] = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const contestants = [];
      for (const { checkout, world } of worlds)
        contestants.push(
          await startOurs(
            world,
            interfaceName,
            { name: checkout.name, built: false, checkout: checkout.folder },
            defer,
          ),
        );
      for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
        const report = (line: string): void => progress(`${shape.name}: ${line}`);
        const measured = await measureContestants(shape, contestants, load, plan, report);
        for (const [connections, byName] of measured) {
          const title = `${shape.title}, ${connections === 1 ? '1 connection' : `${connections} connections`}`;
          const [ours = [], theirs = []] = byName.values();
          figures.push(
            compareValues(title, 'per second', ours.map(perSecond), theirs.map(perSecond)),
            compareValues(`${title}: CPU`, 'µs', ours.map(cpuMicroseconds), theirs.map(cpuMicroseconds)),
          );
        }
      }
    }
    return { beside: other.name, rounds: plan.rounds, figures };
  });
}
