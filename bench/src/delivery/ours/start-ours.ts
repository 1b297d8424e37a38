import type { AccountId } from '@deedwire/domain';
import type { BenchPostgres } from '../../postgres.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { DeliveryContestant } from '../contestant.ts';
import type { ReceiverChild } from '../receiver-child.ts';
import { workloads } from '../workloads.ts';
import { accountUrls } from './account-urls.ts';
import { ourContestant } from './our-contestant.ts';
import { createOurSystem } from './our-system.ts';

export interface OursOptions {
  name: string;
  database?: string;
  env?: Readonly<Record<string, string>>;
  checkout?: URL | undefined;
}

/**
 * Starts our engine with one worker and a database of its own as a contestant of all workloads.
 *
 * @param options.env variables of the worker that differ from the defaults
 * @param options.checkout see `startAppProcess`
 */
export async function startOurs(
  { postgres, receiver, defer }: { postgres: BenchPostgres; receiver: ReceiverChild; defer: Defer },
  { name, database = 'ours', env = {}, checkout }: OursOptions,
): Promise<DeliveryContestant> {
  const system = await createOurSystem(await postgres.createDatabase(database));
  defer(() => system.close());
  const accounts = new Map<string, AccountId[]>();
  for (const workload of workloads) {
    accounts.set(workload.name, await system.addAccounts(accountUrls(workload, receiver.origins)));
  }
  const workers = [await system.startWorker({ env, checkout })];
  return ourContestant({
    name,
    system,
    workers,
    receiver,
    accounts: (workload) => accounts.get(workload.name) ?? [],
    storeUsage: () => postgres.usage(),
  });
}
