import type { Database, Store } from '@deedwire/store';
import type { WorkerId } from '../fence/fence.ts';
import { readPins } from '../subscriptions/read-pins.ts';
import type { RoundPlan } from './round-plan.ts';
import { readEvents } from './sql/events.ts';
import { readAccounts, readQueue } from './sql/queue.ts';
import { writeRound } from './sql/round.ts';

/** A bulk round, an express round, a read of the queue, and one to spare. */
const connections = 4;

export const emptyRound: RoundPlan = {
  done: [],
  subscriptions: [],
  deliveries: [],
  payloads: [],
  deferred: [],
  blocked: [],
  leftOver: [],
};

/**
 * Opens the connections that fan-out uses at the same time, and plans the statements between a commit and its requests on each
 * of them. A plan covers all partitions, which takes 10 to 30 ms: the first event on each connection would wait for it.
 */
export async function planStatements(store: Store, workerId: WorkerId): Promise<void> {
  const onOne = async (database: Database): Promise<void> => {
    await readQueue(database, [], 0, 0);
    await readAccounts(database, []);
    await readPins(database, []);
    await readEvents(database, [], 1);
    await writeRound(database, workerId, emptyRound);
    await writeRound(database, workerId, emptyRound, true);
  };
  // Each transaction keeps its connection, so they use different ones.
  await Promise.all(Array.from({ length: connections }, () => store.transaction(onOne)));
}
