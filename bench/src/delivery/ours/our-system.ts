import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { secretAssociatedData, type AccountId } from '@deedwire/domain';
import { createLogin } from '@deedwire/embedded-postgres';
import { applyMigrations, createSecretKeyRing, readMigrations } from '@deedwire/store';
import { insertAccount, insertOrganization } from '@deedwire/store/accounts';
import { type AppProcess, type AppProcessOptions, startAppProcess } from '../../app-process.ts';
import { machineMs } from '../../child.ts';
import { type BenchPostgres, createBenchStore } from '../../postgres.ts';
import type { Defer } from '../../with-cleanup.ts';
import {
  addEvent,
  addSubscription,
  countAttempts,
  countShards,
  hasUnsettled,
  type SubscriptionToAdd,
} from './engine-tables.ts';

/** Events that are inserted, in a transaction that is not committed yet. */
export interface HeldEvents {
  /** Commits. */
  release(): Promise<void>;
}

/** Our engine with a separate database. It has no worker at first. */
export interface OurSystem {
  readonly databaseUrl: string;
  /** With the rights of the worker. */
  readonly workerUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  readonly secretKeys: string;
  /** @param callbackUrls the subscriptions of each account */
  addAccounts(callbackUrls: readonly (readonly string[])[]): Promise<AccountId[]>;
  addAccount(callbackUrls: readonly string[]): Promise<AccountId>;
  /** Inserts events that take turns over the accounts. */
  holdEvents(accounts: readonly AccountId[], events: number): Promise<HeldEvents>;
  /** Commits one event. Returns when it was committed, by `machineMs()`. */
  commitEvent(account: AccountId, name: string): Promise<number>;
  /** Starts one more worker, which runs the sources by default. */
  startWorker(options?: Partial<Omit<AppProcessOptions, 'app'>>): Promise<AppProcess>;
  /** Resolves when each of the workers owns its share of the work. */
  untilShared(workers: number): Promise<void>;
  /** Resolves when every event is fanned out and every delivery settled. */
  untilSettled(): Promise<void>;
  countAttempts(): Promise<number>;
}

const keyId = 'bench';
const pollMs = 2;
// A guard against hanging only.
const timeoutMs = 300_000;

async function until(condition: () => Promise<boolean>, problem: string): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`After ${timeoutMs / 1000} s: ${problem}`);
    await sleep(pollMs);
  }
}

/** @param lastMigration the number of the last migration to apply, such as `0027`. Defaults to all */
export async function createOurSystem(
  postgres: BenchPostgres,
  database: string,
  defer: Defer,
  lastMigration = '9999',
): Promise<OurSystem> {
  const databaseUrl = await postgres.createDatabase(database);
  const migrations = await readMigrations();
  const applied = migrations.filter(({ name }) => name.slice(0, lastMigration.length) <= lastMigration);
  await applyMigrations(databaseUrl, applied, {});
  const store = createBenchStore(databaseUrl);
  defer(() => store.close());
  const key = randomBytes(32);
  const keyRing = createSecretKeyRing(new Map([[keyId, key]]));
  const secretKeys = `${keyId}:${key.toString('base64')}`;
  const workerUrl = await createLogin(databaseUrl, `${database}_worker`, 'webhook_worker');

  const addAccounts: OurSystem['addAccounts'] = (callbackUrls) =>
    store.transaction(async (transaction) => {
      const organization = await insertOrganization(transaction, 'Bench');
      const accounts: AccountId[] = [];
      for (const urls of callbackUrls) {
        const name = `Account ${accounts.length + 1}`;
        const owner = { interfaceName: 'partner', organizationId: organization.id, name } as const;
        const { id: accountId } = await insertAccount(transaction, owner);
        for (const callbackUrl of urls) {
          const encrypt: SubscriptionToAdd['encrypt'] = (secret, id) =>
            keyRing.encrypt(secret, secretAssociatedData(id));
          await addSubscription(transaction, { accountId, callbackUrl, encrypt });
        }
        accounts.push(accountId);
      }
      return accounts;
    });

  return {
    databaseUrl,
    workerUrl,
    secretKeys,
    addAccounts,
    async addAccount(callbackUrls) {
      const [account] = await addAccounts([callbackUrls]);
      if (account === undefined) throw new Error('There is no account.');
      return account;
    },

    async holdEvents(accounts, events) {
      const inserted = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const committed = store.transaction(async (transaction) => {
        for (let index = 0; index < events; index += 1) {
          const account = accounts[index % accounts.length];
          if (account !== undefined) await addEvent(transaction, account, `CRM-2026/${index}`);
        }
        inserted.resolve();
        await released.promise;
      });
      committed.catch(inserted.reject);
      await inserted.promise;
      return {
        async release() {
          released.resolve();
          await committed;
        },
      };
    },

    async commitEvent(account, name) {
      await store.transaction((transaction) => addEvent(transaction, account, name));
      return machineMs();
    },

    startWorker: ({ built = false, env = {}, checkout } = {}) =>
      startAppProcess(defer, {
        app: 'webhook-worker',
        built,
        env: {
          DATABASE_URL: workerUrl,
          WEBHOOK_SECRET_KEYS: secretKeys,
          // The receivers listen on 127.0.0.1, which production refuses.
          NODE_ENV: 'test',
          WEBHOOK_CALLBACK_POLICY: 'development',
          ...env,
        },
        checkout,
      }),

    async untilShared(count) {
      const leastShards = Math.floor(64 / count);
      const isShared = async (): Promise<boolean> => {
        const shards = await countShards(store);
        return shards.length === count && shards.every((each) => each >= leastShards);
      };
      await until(isShared, 'The workers do not share the accounts.');
    },

    untilSettled: () => until(async () => !(await hasUnsettled(store)), 'Deliveries are unsettled.'),

    countAttempts: () => countAttempts(store),
  };
}
