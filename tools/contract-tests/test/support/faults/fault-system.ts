import type { AppName, RunningApp } from '@deedwire/dev-environment';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/firm-harness';
import { findFreePort, type PostgresServer } from '@deedwire/embedded-postgres';
import {
  createClient,
  type Client,
  type Connection,
  type Credential,
  runOnce,
  startTcpProxy,
  type StatementFault,
  type TcpProxy,
} from '@deedwire/testing';
import type { Release } from '../last-release.ts';
import { createPartnerAccounts } from '../partner-accounts.ts';
import { subscribe } from '../subscribe.ts';
import { openAcceptedLog, type AcceptedLog } from './accepted-log.ts';
import { startDeliveryLog, type DeliveryLog } from './delivery-log.ts';
import { createInterruptions, type Interruptions } from './interruptions.ts';
import { startLoad, type Load } from './load.ts';

export interface FaultSystemOptions {
  /** The apps to start. Defaults to the partner API and the worker. */
  apps?: readonly AppName[];
  /** Each has two subscriptions. */
  accounts: number;
  /** `WORKER_LEASE_MS`. A worker without processor time for this long loses its shards. */
  leaseMs: number;
  server?: Pick<PostgresServer, 'url' | 'stop'>;
  /** Further environment variables of all apps. */
  env?: Readonly<Record<string, string>>;
  /** Another release, whose migrations are applied and whose apps are started first. Needs `server`. */
  release?: Release;
}

/** `flights`: before the second flight of a shared transaction. `answer`: after COMMIT, before its response. */
export type ApiPlace = 'flights' | 'answer';

const places = {
  flights: { statement: 'insert-referrals', when: 'before' },
  answer: { statement: 'commit', when: 'after' },
} as const satisfies Record<ApiPlace, { statement: string } & StatementFault>;

/** A system whose parts are interrupted under load, with all that is needed to judge what was delivered. */
export interface FaultSystem {
  t: TestSystem;
  /** Runs statements as a superuser. */
  observer: Pick<Connection, 'run'>;
  accounts: readonly { accountId: string }[];
  /** The account of each subscription. */
  subscriptions: ReadonlyMap<string, string>;
  accepted: AcceptedLog;
  received: DeliveryLog;
  interruptions: Interruptions;
  /** The findings of earlier comparisons of the same system. */
  compared: { unexplained: number; unobserved: number };
  /** The running workers. A test replaces those that it ends. */
  workers: RunningApp[];
  apis: RunningApp[];
  credentialOf: (accountId: string) => Credential;
  /** @param url of what the request is sent to, without the path of the interface. Defaults to one of the APIs. */
  clientOf: (accountId: string, url?: string) => Client;
  /** @param from the folder of its workspace, if it is not that of the first worker */
  addWorker(env?: Record<string, string>, from?: string): Promise<RunningApp>;
  /**
   * Starts a partner API, without load, that reaches the database through a proxy. No other server gets its port after the API
   * was killed.
   */
  startApi(env?: Record<string, string>, from?: string): Promise<RunningApp>;
  /**
   * Kills an API without warning and starts another one.
   *
   * @param place where in a transaction it is killed. Null: anywhere. The first API has no proxy, and is killed anywhere.
   */
  replaceApi(api: RunningApp, place: ApiPlace | null): Promise<void>;
  /** @param url as in `clientOf` */
  startLoad(url?: string): Load;
  close(): Promise<void>;
}

/** Starts one API and one worker. */
export async function startFaultSystem(options: FaultSystemOptions): Promise<FaultSystem> {
  const { leaseMs, accounts: count, release, ...further } = options;
  const received = await startDeliveryLog();
  const accepted = await openAcceptedLog();
  const workerEnv = { WORKER_LEASE_MS: String(leaseMs) };
  const t = await startTestSystem({
    apps: ['partner-api', 'webhook-worker'],
    ...further,
    ...(release && {
      workspace: release.folder,
      apply: (url) => release.migrate(url),
      seeding: await release.seeding(),
    }),
    appEnv: { 'webhook-worker': workerEnv },
    ports: { 'partner-api': await findFreePort() },
  });
  const accounts = await createPartnerAccounts(t, count, await release?.actions());
  const credentials = new Map(accounts.map(({ accountId, credential }) => [accountId, credential]));
  const workers = [t.system.apps['webhook-worker']];
  const apis = [t.system.apps['partner-api']];
  const interruptions = createInterruptions(t.database.databaseUrl, received);
  const subscriptions = new Map<string, string>();
  const proxies = new Map<RunningApp, TcpProxy>();
  let requests = 0;

  function credentialOf(accountId: string): Credential {
    const credential = credentials.get(accountId);
    if (credential === undefined) throw new Error(`No credential of ${accountId}.`);
    return credential;
  }

  function clientOf(accountId: string, url = apis[(requests += 1) % apis.length]?.url): Client {
    if (!url) throw new Error('No API is running.');
    return createClient(`${url}/partners/graphql`, credentialOf(accountId));
  }

  const system: FaultSystem = {
    t,
    observer: { run: (statement, values) => runOnce(t.database.databaseUrl, statement, values) },
    accounts,
    subscriptions,
    accepted,
    received,
    interruptions,
    compared: { unexplained: 0, unobserved: 0 },
    workers,
    apis,
    credentialOf,
    clientOf,
    addWorker: (env, from) => t.system.add('webhook-worker', env, from),
    async startApi(env, from) {
      const proxy = await startTcpProxy(await t.database.urlFor('partner_api'));
      const port = String(await findFreePort());
      const api = await t.system.add('partner-api', { PORT: port, DATABASE_URL: proxy.url, ...env }, from);
      proxies.set(api, proxy);
      return api;
    },
    async replaceApi(api, place) {
      const kill = (): Promise<unknown> => {
        api.kill('SIGKILL');
        return api.ended;
      };
      const proxy = proxies.get(api);
      if (place === null || proxy === undefined) await kill();
      else await proxy.breakAt((statement) => statement === places[place].statement, { ...places[place], act: kill });
      await proxy?.close();
      proxies.delete(api);
      apis[apis.indexOf(api)] = await system.startApi();
    },
    startLoad: (url) =>
      startLoad({ accounts: system.accounts, clientOf: (accountId) => clientOf(accountId, url), log: accepted }),
    async close() {
      // A suspended process would not end on SIGTERM.
      for (const worker of workers) worker.kill('SIGCONT');
      await interruptions.close();
      await t.close();
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
      await received.close();
      await accepted.close();
    },
  };
  try {
    for (const { accountId } of system.accounts) {
      for (const id of await subscribeTwice(clientOf(accountId), received)) subscriptions.set(id, accountId);
    }
  } catch (error) {
    await system.close();
    throw error;
  }
  return system;
}

async function subscribeTwice(client: Client, received: DeliveryLog): Promise<string[]> {
  const ids: string[] = [];
  for (const path of ['first', 'second']) {
    const { id, secret } = await subscribe(client, {
      callbackUrl: `${received.url}/${path}`,
      eventTypes: [{ type: 'referral.created' }],
    });
    received.setSecret(id, secret);
    ids.push(id);
  }
  return ids;
}
