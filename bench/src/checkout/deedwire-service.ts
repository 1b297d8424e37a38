import { randomBytes } from 'node:crypto';
import { createLogin } from '@deedwire/embedded-postgres';
import { type AppProcess, startAppProcess } from '../app-process.ts';
import { inGroups } from '../delivery/workloads.ts';
import { createReferralRequest } from '../delivery/write/our-clients.ts';
import { startOurApp } from '../graphql/contestant.ts';
import type { BenchPostgres } from '../postgres.ts';
import type { Service } from '../services/service-api.ts';
import type { Defer } from '../with-cleanup.ts';
import type { Checkout } from './checkout.ts';
import { startOperator } from './operator.ts';

/** The API of partners and the worker of a checkout. */
export interface DeedwireService extends Service {
  readonly worker: AppProcess;
  /** Accounts with one client each, and with one subscription to each of their URLs. Returns the headers of their clients. */
  createAccounts(urls: readonly (readonly string[])[]): Promise<Record<string, string>[]>;
  /** A request that creates a referral, with the headers of one of these clients on each connection. */
  referralRequest(clients: readonly Record<string, string>[], input?: object): ReturnType<typeof createReferralRequest>;
  /** The CPU time of each process. That of PostgreSQL is null where the platform does not tell. */
  cpuOfProcesses(): Promise<ProcessesCpuMs>;
}

export interface ProcessesCpuMs {
  api: number;
  worker: number;
  postgres: number | null;
}

const subscribe = `mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { code message } } }`;

/** The receivers listen on 127.0.0.1, which production refuses. */
const local = { NODE_ENV: 'test', WEBHOOK_CALLBACK_POLICY: 'development' };

/** A handshake waits for the receiver. */
const subscriptionsAtOnce = 8;

/**
 * Starts the apps of a checkout from their sources, on a database that its operator CLI has migrated. Accounts and subscriptions are
 * created as a user does: other checkouts store them differently.
 *
 * @param database its name, which no other contestant has
 */
export async function startDeedwire(
  checkout: Checkout,
  { postgres, database, defer }: { postgres: BenchPostgres; database: string; defer: Defer },
): Promise<DeedwireService> {
  const { name, folder } = checkout;
  const databaseUrl = await postgres.createDatabase(database);
  const operator = await startOperator(checkout, databaseUrl, defer);
  const secretKeys = `bench:${randomBytes(32).toString('base64')}`;
  // Logins belong to the server, not to the database.
  const loginFor = (role: string): Promise<string> => createLogin(databaseUrl, `${database}_${role}`, role);
  const worker = await startAppProcess(defer, {
    app: 'webhook-worker',
    built: false,
    env: {
      DATABASE_URL: await loginFor('webhook_worker'),
      WEBHOOK_SECRET_KEYS: secretKeys,
      ...local,
    },
    checkout: folder,
  });
  const apiOptions = { databaseUrl: await loginFor('partner_api'), secretKeys, built: false, checkout: folder };
  const api = await startOurApp(defer, 'partner', apiOptions);
  // In production, the API refuses the URLs of the receivers too. So another process subscribes.
  const subscriber = await startOurApp(defer, 'partner', { ...apiOptions, env: local });

  async function subscribeTo(callbackUrl: string, headers: Record<string, string>): Promise<void> {
    const eventTypes = [{ type: 'referral.created', version: '2026-11-01' }];
    const body = JSON.stringify({ query: subscribe, variables: { input: { callbackUrl, eventTypes } } });
    const text = await (await fetch(subscriber.url, { method: 'POST', headers, body })).text();
    if (!text.includes('"userErrors":[]')) throw new Error(`${name} does not subscribe ${callbackUrl}: ${text}`);
  }

  async function createAccounts(urls: readonly (readonly string[])[]): Promise<Record<string, string>[]> {
    const issued = await operator.issueClients('partner', await operator.createAccounts('partner', urls.length));
    const clients = issued.map((headers) => ({ 'Content-Type': 'application/json', ...headers }));
    const subscriptions = clients.flatMap((headers, account) => (urls[account] ?? []).map((url) => ({ url, headers })));
    for (const group of inGroups(subscriptions, subscriptionsAtOnce))
      await Promise.all(group.map(({ url, headers }) => subscribeTo(url, headers)));
    return clients;
  }

  const referralRequest: DeedwireService['referralRequest'] = (clients, input) =>
    createReferralRequest(api.url, clients, input);

  async function cpuOfProcesses(): Promise<ProcessesCpuMs> {
    const [apiUsage, workerUsage] = [await api.usage(), await worker.usage()];
    return { api: apiUsage.cpuMs, worker: workerUsage.cpuMs, postgres: (await postgres.usage()).cpuMs };
  }

  return {
    name,
    worker,
    createAccounts,
    referralRequest,
    cpuOfProcesses,
    async cpuMs() {
      const { api: ofApi, worker: ofWorker, postgres: ofPostgres } = await cpuOfProcesses();
      return ofPostgres === null ? null : ofApi + ofWorker + ofPostgres;
    },
    // The database ends with the bench.
    createTenant: async (_name, urls) => ({
      event: referralRequest(await createAccounts([urls])),
      remove: async () => {},
    }),
  };
}
