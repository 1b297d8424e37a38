import type { AccountId } from '@deedwire/core';
import { machineMs } from '../child.ts';
import { createOurSystem } from '../delivery/ours/our-system.ts';
import { inGroups, ours } from '../delivery/workloads.ts';
import { issueClients } from '../delivery/write/our-clients.ts';
import { startPartnerApi } from '../delivery/write/our-contestants.ts';
import type { BenchPostgres } from '../postgres.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';
import type { OurContestant } from './contestant.ts';

const eventsPerTransaction = 1000;

const query = '{ webhookDeliveries(first: 50) { nodes { id status attempts { number } } } }';

/** @param endpoints of the accounts, and one of the burst */
export async function startOurs(
  postgres: BenchPostgres,
  endpoints: readonly string[],
  defer: Defer,
): Promise<OurContestant> {
  const system = await createOurSystem(postgres, 'ours', defer);
  const accounts = await system.addAccounts(endpoints.map((endpoint) => [endpoint]));
  const accountAt = (index: number): AccountId => {
    const account = accounts.at(index);
    if (account === undefined) throw new Error(`There is no account ${index}.`);
    return account;
  };
  let worker = await system.startWorker();
  return {
    name: ours,
    databaseUrl: system.databaseUrl,
    login: new URL(system.workerUrl).username,
    commit: (account, name) => system.commitEvent(accountAt(account), name),
    async commitBurst(names) {
      for (const group of inGroups(names, eventsPerTransaction)) {
        const commit = await system.holdEvents([accountAt(-1)], group.length, (index) => group[index] ?? '');
        await commit();
      }
      return machineMs();
    },
    worker: () => worker,
    async restartWorker() {
      await worker.kill();
      worker = await system.startWorker();
    },
    readDeliveries: (load, plan) =>
      withCleanup(async (deferReading) => {
        const { url } = await startPartnerApi(system, { built: false, env: {}, defer: deferReading });
        const { origin, pathname: path } = new URL(url);
        const headers = await issueClients(system.databaseUrl, accounts);
        const request = { origin, path, headers, body: JSON.stringify({ query }), leastBytes: 100 };
        await load.ask({ ...request, ...plan, pauseMs: 1000 });
      }),
  };
}
