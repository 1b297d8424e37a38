import type { AccountId } from '@deedwire/domain';
import { fillHistory } from '../delivery/ours/fill-history.ts';
import { createOurSystem, type OurSystem } from '../delivery/ours/our-system.ts';
import type { BenchPostgres } from '../postgres.ts';
import type { Defer } from '../with-cleanup.ts';

/** A database with stored deliveries of one subscription. */
export interface History {
  storedDeliveries: number;
  database: string;
  system: OurSystem;
  account: AccountId;
}

/** Creates a database for each number of deliveries. */
export async function createHistories(
  postgres: BenchPostgres,
  defer: Defer,
  sizes: readonly number[],
  { callbackUrl, progress }: { callbackUrl: string; progress: (line: string) => void },
): Promise<History[]> {
  const histories: History[] = [];
  for (const storedDeliveries of sizes) {
    const database = `history_${histories.length + 1}`;
    const system = await createOurSystem(await postgres.createDatabase(database));
    defer(() => system.close());
    const [account] = await system.addAccounts([[callbackUrl]]);
    if (account === undefined) throw new Error('There is no account.');
    await fillHistory(system.databaseUrl, storedDeliveries, (count) =>
      progress(`Stored ${count.toLocaleString('en-US')} of ${storedDeliveries.toLocaleString('en-US')} deliveries`),
    );
    histories.push({ storedDeliveries, database, system, account });
  }
  return histories;
}
