import { ours } from '../delivery/report.ts';
import type { Stack } from '../delivery/stack.ts';
import { createReferralRequest, issueClients } from '../delivery/write/our-clients.ts';
import { startOurApps } from '../delivery/write/our-contestants.ts';
import type { Defer } from '../with-cleanup.ts';
import type { Service } from './service.ts';

/** Ours: the mutation `createReferral`. A tenant is an account with one client, and an endpoint is a subscription. */
export async function startDeedwire({ system, postgres }: Stack, defer: Defer): Promise<Service> {
  const { app, worker } = await startOurApps(system, { built: false, defer });
  const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'bench-{n}' };
  return {
    name: ours,
    async cpuMs() {
      const store = await postgres.usage();
      return store.cpuMs === null ? null : store.cpuMs + (await app.usage()).cpuMs + (await worker.usage()).cpuMs;
    },
    async createTenant(_name, urls) {
      const accounts = await system.addAccounts([urls]);
      const headers = await issueClients(system.databaseUrl, accounts);
      return {
        event: createReferralRequest(app.url, headers, input),
        // The database ends with the bench.
        async remove() {},
      };
    },
  };
}
