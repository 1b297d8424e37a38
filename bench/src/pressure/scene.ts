import { startReceivers } from '../delivery/receivers.ts';
import { startBenchPostgres } from '../postgres.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';
import { accountCount, type Contestant, type Scene } from './contestant.ts';
import { startOurs } from './start-ours.ts';

interface SceneOptions {
  /** For the data of PostgreSQL. Omitted: a temporary one */
  folder?: string;
}

type Start<Tested> = (postgres: Scene['postgres'], endpoints: readonly string[], defer: Defer) => Promise<Tested>;

/** Starts PostgreSQL, the receivers and a contestant, and stops them after the work. */
export function withContestant<Tested extends Contestant, Result>(
  start: Start<Tested>,
  work: (scene: Scene<Tested>, defer: Defer) => Promise<Result>,
  { folder }: SceneOptions = {},
): Promise<Result> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer, folder);
    // One more than accounts, for that of a burst.
    const receiver = await startReceivers(accountCount + 1, defer);
    const endpoints = receiver.origins.map((origin, account) => `${origin}/event/${account}`);
    return work({ postgres, receiver, contestant: await start(postgres, endpoints, defer) }, defer);
  });
}

export const withOurs = <Result>(
  work: (scene: Scene<Awaited<ReturnType<typeof startOurs>>>, defer: Defer) => Promise<Result>,
  options?: SceneOptions,
): Promise<Result> => withContestant(startOurs, work, options);
