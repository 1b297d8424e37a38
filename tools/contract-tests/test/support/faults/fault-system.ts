import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { findFreePort, type PostgresServer, type TestDatabase } from '@deedwire/embedded-postgres';
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
import { createClientAccounts } from '../client-accounts.ts';
import { subscribe } from '../subscribe.ts';
import { openAcceptedLog, type AcceptedLog } from './accepted-log.ts';
import { startDeliveryLog, type DeliveryLog } from './delivery-log.ts';
import { createInterruptions, type Interruptions } from './interruptions.ts';
import { type Load, placeOrder, startLoad, type WriteRecord } from './load.ts';

export interface FaultSystemOptions<App extends string> {
  /** The apps to start. Defaults to the API under load and the worker. */
  apps?: readonly App[];
  /** Each has two subscriptions. */
  accounts: number;
  /** `WORKER_LEASE_MS`. A worker without processor time for this long loses its shards. */
  leaseMs: number;
  server?: Pick<PostgresServer, 'url' | 'stop'>;
  /** Further environment variables of all apps. */
  env?: Readonly<Record<string, string>>;
}

/** The interface under load. */
export interface LoadedInterface<Api extends string> {
  api: Api;
  /** Of its GraphQL endpoint. */
  path: string;
  /** Of its logins. */
  role: string;
  write: WriteRecord;
  /** The statement that writes the record. */
  insert: string;
  eventType: string;
  /** As for `startDeliveryLog`. */
  idIn: string;
}

/** A system of any service. */
export interface LoadedSystem<Api extends string> {
  database: TestDatabase;
  system: {
    apps: Readonly<Record<Api | 'webhook-worker', RunningApp>>;
    add(name: Api | 'webhook-worker', env?: Readonly<Record<string, string>>, from?: string): Promise<RunningApp>;
  };
  close(): Promise<void>;
}

const customerInterface: LoadedInterface<'customer-api'> = {
  api: 'customer-api',
  path: '/customer/graphql',
  role: 'customer_api',
  write: placeOrder,
  insert: 'insert-orders',
  eventType: 'order.placed',
  idIn: 'orderId',
};

/** `flights`: before the second flight of a shared transaction. `answer`: after COMMIT, before its response. */
export type ApiPlace = 'flights' | 'answer';

const placesIn = (insert: string) =>
  ({
    flights: { statement: insert, when: 'before' },
    answer: { statement: 'commit', when: 'after' },
  }) satisfies Record<ApiPlace, { statement: string } & StatementFault>;

/** A system whose parts are interrupted under load, with all that is needed to judge what was delivered. */
export interface FaultSystem<System extends { database: TestDatabase } = { database: TestDatabase }> {
  t: System;
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
   * Starts an API, without load, that reaches the database through a proxy. No other server gets its port after the API
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

/** Starts one API and one worker of the test service. */
export async function startFaultSystem({
  leaseMs,
  accounts,
  ...further
}: FaultSystemOptions<keyof TestSystem['system']['apps']>): Promise<FaultSystem<TestSystem>> {
  const t = await startTestSystem({
    apps: ['customer-api', 'webhook-worker'],
    ...further,
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: String(leaseMs) } },
    ports: { 'customer-api': await findFreePort() },
  });
  return createFaultSystem(t, customerInterface, await createClientAccounts('customer', t, accounts));
}

/** Lets the accounts subscribe. Closes `t` with the system. */
export async function createFaultSystem<Api extends string, System extends LoadedSystem<Api>>(
  t: System,
  { api: apiName, path, role, write, insert, eventType, idIn }: LoadedInterface<Api>,
  accounts: readonly { accountId: string; credential: Credential }[],
): Promise<FaultSystem<System>> {
  const places = placesIn(insert);
  const received = await startDeliveryLog(idIn);
  const accepted = await openAcceptedLog();
  const credentials = new Map(accounts.map(({ accountId, credential }) => [accountId, credential]));
  const workers: RunningApp[] = [t.system.apps['webhook-worker']];
  const apis: RunningApp[] = [t.system.apps[apiName]];
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
    return createClient(`${url}${path}`, credentialOf(accountId));
  }

  const system: FaultSystem<System> = {
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
      const proxy = await startTcpProxy(await t.database.urlFor(role));
      const port = String(await findFreePort());
      const api = await t.system.add(apiName, { PORT: port, DATABASE_URL: proxy.url, ...env }, from);
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
      startLoad({ accounts: system.accounts, clientOf: (accountId) => clientOf(accountId, url), log: accepted, write }),
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
      for (const id of await subscribeTwice(clientOf(accountId), received, eventType)) subscriptions.set(id, accountId);
    }
  } catch (error) {
    await system.close();
    throw error;
  }
  return system;
}

async function subscribeTwice(client: Client, received: DeliveryLog, type: string): Promise<string[]> {
  const ids: string[] = [];
  for (const path of ['first', 'second']) {
    const { id, secret } = await subscribe(client, {
      callbackUrl: `${received.url}/${path}`,
      eventTypes: [{ type }],
    });
    received.setSecret(id, secret);
    ids.push(id);
  }
  return ids;
}
