import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { issueCredential, setClientLimit, systemRandom } from '@deedwire/actions';
import { type AccountId, formatAccountGid } from '@deedwire/domain';
import { createLogin } from '@deedwire/embedded-postgres';
import { createBenchStore } from '../../bench-store.ts';
import { startChild } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { startOurApp } from '../../graphql/our-app.ts';
import type { Part } from '../part.ts';
import { writeMarkdown, type WriteResult } from '../report.ts';
import { withStack } from '../stack.ts';

const connections = 32;
const gidNamespace = 'service';

const mutation =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';
const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'CRM-{n}' };
const bodies = [
  ['without idempotency keys', input],
  ['with a new key each', { ...input, externalReference: 'CRM-1', idempotencyKey: 'key-{n}' }],
] as const;

export const write: Part<WriteResult> = {
  summary: `createReferral by ${connections} connections of one client, until its webhook arrives`,

  async run({ quick, progress }) {
    return withStack({ receivers: 1 }, async ({ postgres, receiver, system }, defer) => {
      const [account] = await system.addAccounts([[`${receiver.origins[0] ?? ''}/hooks`]]);
      if (account === undefined) throw new Error('There is no account.');
      const worker = await system.startWorker();
      const app = await startOurApp({
        interfaceName: 'partner',
        databaseUrl: await createLogin(system.databaseUrl, 'bench_partner_api', 'partner_api'),
        secretKeys: `${system.forWorkers.keyId}:${system.forWorkers.key}`,
        built: false,
        defer,
      });
      const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
      defer(() => load.close());
      const headers = await credentials(system.databaseUrl, account);
      const { origin, pathname } = new URL(app.url);

      const usage = async () => ({
        api: (await app.usage()).cpuMs,
        worker: (await worker.usage()).cpuMs,
        postgres: (await postgres.usage()).cpuMs,
      });
      const measure = async (variables: object, durationMs: number) => {
        await receiver.forget();
        const before = await usage();
        const startMs = performance.now();
        const body = JSON.stringify({ query: mutation, variables: { input: variables } });
        const request = { origin, path: pathname, headers: [headers], body, leastBytes: 60, connections, durationMs };
        const { requests: events } = await load.ask(request);
        await receiver.waitFor(events);
        const elapsedMs = performance.now() - startMs;
        await system.untilSettled();
        const after = await usage();
        const perEvent = (from: number, to: number): number => ((to - from) * 1000) / events;
        return {
          events,
          eventsPerSecond: (events / elapsedMs) * 1000,
          cpu: {
            api: perEvent(before.api, after.api),
            worker: perEvent(before.worker, after.worker),
            postgres:
              before.postgres === null || after.postgres === null ? null : perEvent(before.postgres, after.postgres),
          },
        };
      };

      progress('Warm-up');
      await measure(input, quick ? 500 : 5_000);
      const results = [];
      for (const [title, variables] of bodies) {
        progress(title);
        results.push({ title, ...(await measure(variables, quick ? 1_000 : 10_000)) });
      }
      return { connections, results };
    });
  },

  markdown: writeMarkdown,
};

/** The headers of a client of the account whose operations are not limited. */
async function credentials(databaseUrl: string, account: AccountId): Promise<Record<string, string>> {
  const store = createBenchStore(databaseUrl);
  const operator = { name: 'bench', host: hostname(), requestId: randomUUID() };
  const context = { store, gidNamespace, now: () => new Date(), random: systemRandom, operator };
  const accountId = formatAccountGid(gidNamespace, 'partner', account);
  const issued = await issueCredential(context, { interfaceName: 'partner', accountId, clientId: null });
  await setClientLimit(context, { clientId: issued.clientId, maximum: 1_000_000_000, restoreRate: 1_000_000_000 });
  await store.close();
  return {
    'Content-Type': 'application/json',
    'X-Service-Client-Id': issued.clientId,
    'X-Service-API-Key': issued.apiKey,
    'X-Service-Organization-Id': issued.organizationId,
  };
}
