import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { secretAssociatedData, type AccountId } from '@deedwire/domain';
import { createLogin } from '@deedwire/embedded-postgres';
import { applyMigrations, createSecretKeyRing, readMigrations } from '@deedwire/store';
import { insertAccount, insertOrganization } from '@deedwire/store/accounts';
import { createBenchStore } from '../../bench-store.ts';
import { machineMs } from '../clock.ts';
import { addEvent, addSubscription, countAttempts, countShards, hasUnsettled } from './engine-tables.ts';
import { startWorkerApp, type WorkerApp } from './worker-app.ts';

/** Events that are inserted, in a transaction that is not committed yet. */
export interface HeldEvents {
  /** Commits. */
  release(): Promise<void>;
}

export interface ForWorkers {
  /** With the rights of the worker. */
  databaseUrl: string;
  /** The key that encrypts the secrets of subscriptions, in base64. */
  key: string;
  keyId: string;
}

/** Our engine with a separate database. It has no worker at first. */
export interface OurSystem {
  readonly databaseUrl: string;
  /** What a process needs to work for this system. */
  readonly forWorkers: ForWorkers;
  /** @param callbackUrls the subscriptions of each account */
  addAccounts(callbackUrls: readonly (readonly string[])[]): Promise<AccountId[]>;
  /** Inserts events that take turns over the accounts. */
  holdEvents(accounts: readonly AccountId[], events: number): Promise<HeldEvents>;
  /** Commits one event. Returns when it was committed, by `machineMs()`. */
  commitEvent(account: AccountId, name: string): Promise<number>;
  /**
   * Starts one more worker.
   *
   * @param options.built run the output of `pnpm build` instead of the sources, which is the default
   * @param options.env variables that differ from the defaults
   * @param options.checkout see `startAppProcess`
   */
  startWorker(options?: {
    built?: boolean;
    env?: Readonly<Record<string, string>>;
    checkout?: URL | undefined;
  }): Promise<WorkerApp>;
  /** Resolves when each of the workers owns its share of the work. */
  untilShared(workers: number): Promise<void>;
  /** Resolves when every event is fanned out and every delivery settled. */
  untilSettled(): Promise<void>;
  countAttempts(): Promise<number>;
  close(): Promise<void>;
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

/**
 * @param databaseUrl an empty database, with the rights of a superuser
 * @param lastMigration the number of the last migration to apply, such as `0027`. Defaults to all
 */
export async function createOurSystem(databaseUrl: string, lastMigration = '9999'): Promise<OurSystem> {
  const migrations = await readMigrations();
  await applyMigrations(
    databaseUrl,
    migrations.filter(({ name }) => name.slice(0, lastMigration.length) <= lastMigration),
    {},
  );
  const login = `${new URL(databaseUrl).pathname.slice(1)}_worker`;
  const store = createBenchStore(databaseUrl);
  const key = randomBytes(32);
  const keyRing = createSecretKeyRing(new Map([[keyId, key]]));
  const forWorkers = {
    databaseUrl: await createLogin(databaseUrl, login, 'webhook_worker'),
    key: key.toString('base64'),
    keyId,
  };
  const logFolder = await mkdtemp(join(tmpdir(), 'deedwire-bench-log-'));
  const workers: WorkerApp[] = [];

  return {
    databaseUrl,
    forWorkers,

    addAccounts: (callbackUrls) =>
      store.transaction(async (transaction) => {
        const organization = await insertOrganization(transaction, 'Bench');
        const accounts: AccountId[] = [];
        for (const urls of callbackUrls) {
          const account = await insertAccount(transaction, {
            interfaceName: 'partner',
            organizationId: organization.id,
            name: `Account ${accounts.length + 1}`,
          });
          for (const callbackUrl of urls) {
            await addSubscription(transaction, {
              accountId: account.id,
              callbackUrl,
              encrypt: (secret, id) => keyRing.encrypt(secret, secretAssociatedData(id)),
            });
          }
          accounts.push(account.id);
        }
        return accounts;
      }),

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

    async startWorker({ built = false, env = {}, checkout } = {}) {
      const logFile = join(logFolder, `worker-${workers.length + 1}.log`);
      const secretKeys = `${keyId}:${forWorkers.key}`;
      const { databaseUrl: workersUrl } = forWorkers;
      const worker = await startWorkerApp({ databaseUrl: workersUrl, secretKeys, built, env, logFile, checkout });
      workers.push(worker);
      return worker;
    },

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

    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await store.close();
      await rm(logFolder, { recursive: true, force: true });
    },
  };
}
