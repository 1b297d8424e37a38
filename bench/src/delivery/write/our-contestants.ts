import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { issueCredential, setClientLimit, systemRandom } from '@deedwire/actions';
import { type AccountId, formatAccountGid } from '@deedwire/domain';
import { createLogin } from '@deedwire/embedded-postgres';
import type { AppProcess } from '../../app-process.ts';
import { createBenchStore } from '../../bench-store.ts';
import { startOurApp } from '../../graphql/our-app.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { OurSystem } from '../ours/our-system.ts';
import { ours } from '../report.ts';
import type { WriteContestant } from './contestant.ts';

const gidNamespace = 'service';

const mutation =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';

export interface OurContestants {
  withoutKeys: WriteContestant;
  /** A new idempotency key for each mutation. */
  withKeys: WriteContestant;
  app: Pick<AppProcess, 'memory'>;
  worker: Pick<AppProcess, 'memory'>;
}

/**
 * Starts our API and our worker.
 *
 * @param options.built run the output of `pnpm build` instead of the sources
 */
export async function startOurContestants(
  system: OurSystem,
  origin: string,
  { input, built, defer }: { input: object; built: boolean; defer: Defer },
): Promise<OurContestants> {
  const [account] = await system.addAccounts([[`${origin}/hooks`]]);
  if (account === undefined) throw new Error('There is no account.');
  const worker = await system.startWorker({ built });
  const app = await startOurApp({
    interfaceName: 'partner',
    databaseUrl: await createLogin(system.databaseUrl, 'bench_partner_api', 'partner_api'),
    secretKeys: `${system.forWorkers.keyId}:${system.forWorkers.key}`,
    built,
    defer,
  });
  const headers = [await credentials(system.databaseUrl, account)];
  const url = new URL(app.url);
  const contestant = (name: string, variables: object): WriteContestant => ({
    name,
    request: {
      origin: url.origin,
      path: url.pathname,
      headers,
      body: JSON.stringify({ query: mutation, variables: { input: variables } }),
      leastBytes: 60,
    },
    async settledCpuMs() {
      await system.untilSettled();
      return { api: (await app.usage()).cpuMs, worker: (await worker.usage()).cpuMs };
    },
  });
  return {
    withoutKeys: contestant(ours, input),
    withKeys: contestant(`${ours}, a new idempotency key each`, {
      ...input,
      externalReference: 'CRM-1',
      idempotencyKey: 'key-{n}',
    }),
    app,
    worker,
  };
}

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
