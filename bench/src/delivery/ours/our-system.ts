import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountId, timeoutDefaultSeconds } from '@deedwire/core';
import { createLogin } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { createSecretKeyRing, migrate } from '@deedwire/store';
import { insertAccount, insertOrganization } from '@deedwire/store/accounts';
import { type AppProcessOptions, startAppProcess } from '../../app-process.ts';
import { machineMs } from '../../child.ts';
import { type BenchPostgres, createBenchStore } from '../../postgres.ts';
import type { Defer } from '../../with-cleanup.ts';
import { addEvent, addSubscription, countAttempts, countShards, hasUnsettled } from './engine-tables.ts';

export type OurSystem = Awaited<ReturnType<typeof createOurSystem>>;

const keyId = 'bench';
const pollMs = 2;
// A guard against hanging only.
const timeoutMs = 300_000;

/** Asks again until a condition holds. */
export async function until(condition: () => Promise<boolean>, problem: string): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`After ${timeoutMs / 1000} s: ${problem}`);
    await sleep(pollMs);
  }
}

/** Our engine with a separate database. It has no worker at first. */
export async function createOurSystem(postgres: BenchPostgres, database: string, defer: Defer) {
  const databaseUrl = await postgres.createDatabase(database);
  await migrate(databaseUrl, firm);
  const store = createBenchStore(databaseUrl);
  defer(() => store.close());
  const key = randomBytes(32);
  const keyRing = createSecretKeyRing(new Map([[keyId, key]]));
  const secretKeys = `${keyId}:${key.toString('base64')}`;
  const workerUrl = await createLogin(databaseUrl, `${database}_worker`, 'webhook_worker');

  /** @param callbackUrls the subscriptions of each account */
  const addAccounts = (
    callbackUrls: readonly (readonly string[])[],
    timeoutSeconds = timeoutDefaultSeconds,
  ): Promise<AccountId[]> =>
    store.transaction(async (transaction) => {
      const organization = await insertOrganization(transaction, 'Bench');
      const accounts: AccountId[] = [];
      for (const urls of callbackUrls) {
        const name = `Account ${accounts.length + 1}`;
        const owner = { interfaceName: 'partner', organizationId: organization.id, name } as const;
        const { id: accountId } = await insertAccount(transaction, owner);
        for (const callbackUrl of urls)
          await addSubscription(transaction, { accountId, callbackUrl, timeoutSeconds }, keyRing);
        accounts.push(accountId);
      }
      return accounts;
    });

  return {
    databaseUrl,
    /** With the rights of the worker. */
    workerUrl,
    /** As in WEBHOOK_SECRET_KEYS. */
    secretKeys,
    addAccounts,
    async addAccount(callbackUrls: readonly string[]): Promise<AccountId> {
      const [account] = await addAccounts([callbackUrls]);
      if (account === undefined) throw new Error('There is no account.');
      return account;
    },

    /**
     * Inserts events that take turns over the accounts, in a transaction that is not committed yet.
     *
     * @returns what commits it
     */
    async holdEvents(
      accounts: readonly AccountId[],
      events: number,
      nameOf = (index: number) => `CRM-2026/${index}`,
    ): Promise<() => Promise<void>> {
      const inserted = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const committed = store.transaction(async (transaction) => {
        for (let index = 0; index < events; index += 1) {
          const account = accounts[index % accounts.length];
          if (account !== undefined) await addEvent(transaction, account, nameOf(index));
        }
        inserted.resolve();
        await released.promise;
      });
      committed.catch(inserted.reject);
      await inserted.promise;
      return async () => {
        released.resolve();
        await committed;
      };
    },

    /** Commits one event. Returns when it was committed, by `machineMs()`. */
    async commitEvent(account: AccountId, name: string): Promise<number> {
      await store.transaction((transaction) => addEvent(transaction, account, name));
      return machineMs();
    },

    /** Starts one more worker, which runs the sources by default. */
    startWorker: ({ built = false, env = {} }: Partial<Pick<AppProcessOptions, 'built' | 'env'>> = {}) =>
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
      }),

    /** Resolves when each of the workers owns its share of the work. */
    async untilShared(count: number): Promise<void> {
      const leastShards = Math.floor(64 / count);
      const isShared = async (): Promise<boolean> => {
        const shards = await countShards(store);
        return shards.length === count && shards.every((each) => each >= leastShards);
      };
      await until(isShared, 'The workers do not share the accounts.');
    },

    /** Resolves when every event is fanned out and every delivery settled. */
    untilSettled: () => until(async () => !(await hasUnsettled(store)), 'Deliveries are unsettled.'),

    countAttempts: () => countAttempts(store),
  };
}
