import { setTimeout as sleep } from 'node:timers/promises';
import { idAt, toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type PostgresServer } from '@deedwire/embedded-postgres';
import { createStore, migrate, onlyRow, type Store } from '@deedwire/store';
import { patientTimeouts, seededRandom } from '@deedwire/testing';
import {
  planOf,
  writeRound,
  FencedOutError,
  seedAccount,
  seedSubscription,
  seedWorker,
} from '@deedwire/webhooks/test-support';
import { type PullPosition, readNumberedPage } from '../../../src/webhooks/pull/numbered-page.ts';
import { type NumberedRow, selectPulledSubscription } from '../../../src/webhooks/pull/statements.ts';

export interface ProofOptions {
  /** Is restarted. */
  server: PostgresServer;
  /** How long the writers write between two disturbances. */
  phaseMs: number;
  seed: number;
}

export interface ProofResult {
  /** The numbers in the order in which the reader got them. */
  read: number[];
  /** The ids, likewise. */
  readIds: string[];
  /** Those of the table at the end, in the order of their numbers. */
  stored: string[];
  pages: number;
  /** Pages that reported that a delivery is missing, or has expired. */
  refusals: string[];
  rolledBack: number;
  fencedOut: number;
  /** Statements that failed because the server restarted. */
  interrupted: number;
  /** How many deliveries have a smaller id than one with a smaller number. */
  outOfOrder: number;
}

class RolledBack extends Error {}

/**
 * Three writers number deliveries of one subscription while a reader pages through them. Commits are delayed at random, and a
 * fifth is rolled back. Meanwhile the clock goes back by an hour, forward by two and back to the time, another worker takes over,
 * and the server restarts.
 */
export async function provePages({ server, phaseMs, seed }: ProofOptions): Promise<ProofResult> {
  const random = seededRandom(seed);
  const database = await createTestDatabase({
    template: 'test_service',
    prepare: async (url) => void (await migrate(url, testService, { organization: null })),
    server: { url: server.url, namePrefix: 'proof_' },
  });
  const { databaseUrl } = database;
  const open = (applicationName: string): Store =>
    createStore({ databaseUrl, applicationName, timeouts: patientTimeouts });
  const [superuser, reading, ...writing] = ['superuser', 'reader', 'writer-1', 'writer-2', 'writer-3'].map(open);
  if (superuser === undefined || reading === undefined) throw new Error('No store.');
  const run = (text: string, values: unknown[] = []) =>
    superuser.query<Record<string, string>>({ name: '', text }, values);

  const account = await seedAccount(superuser);
  const subscriptionId = await superuser.transaction((transaction) => seedSubscription(transaction, account));
  await shiftClock(run);
  let workerId = await seedWorker(superuser);
  const result: ProofResult = {
    read: [],
    readIds: [],
    stored: [],
    pages: 0,
    refusals: [],
    rolledBack: 0,
    fencedOut: 0,
    interrupted: 0,
    outOfOrder: 0,
  };
  let isWriting = true;
  let isReading = true;
  let events = BigInt(idAt(new Date()));

  async function write(store: Store): Promise<void> {
    while (isWriting) {
      const count = 1 + Math.floor(random() ** 3 * 200);
      const ids = Array.from({ length: count }, () => toRecordId<'WebhookEvent'>(String((events += 1n))));
      const plan = planOf(account, subscriptionId, ids);
      const writer = workerId;
      try {
        await store.transaction(async (transaction) => {
          await writeRound(transaction, writer, plan);
          await sleep(random() * 15);
          if (random() < 0.2) throw new RolledBack();
        });
      } catch (error) {
        if (error instanceof RolledBack) result.rolledBack += 1;
        else if (error instanceof FencedOutError) result.fencedOut += 1;
        else {
          result.interrupted += 1;
          await sleep(20);
        }
      }
    }
  }

  async function readOn(store: Store): Promise<void> {
    let position: PullPosition = { sequence: 0, fromId: 0n };
    for (;;) {
      const wasReading = isReading;
      let rows: NumberedRow[];
      try {
        const subscription = await selectPulledSubscription(store, account.id, subscriptionId, 'PUSH');
        if (subscription === null) throw new Error('The subscription does not exist.');
        const page = await readNumberedPage(store, subscription, position, 1 + Math.floor(random() * 100));
        if (page.end !== 'full') result.refusals.push(`${page.end} after ${position.sequence + page.rows.length}`);
        if (page.end !== 'full' && page.rows.length === 0) return;
        rows = page.rows;
      } catch (error) {
        if (!wasReading) throw error;
        result.interrupted += 1;
        await sleep(20);
        continue;
      }
      const last = rows.at(-1);
      if (last === undefined && !wasReading) return;
      if (last === undefined) await sleep(2);
      else position = { sequence: last.sequence, fromId: BigInt(last.id) };
      if (rows.length > 0) result.pages += 1;
      result.read.push(...rows.map(({ sequence }) => sequence));
      result.readIds.push(...rows.map(({ id }) => id));
    }
  }

  const writers = writing.map(write);
  const reader = readOn(reading);
  const disturbances = [
    () => run(`update test_clock set back_ms = 3600000`),
    () => run(`update test_clock set back_ms = -3600000`),
    () => run(`update test_clock set back_ms = 0`),
    async () => {
      await run('update webhook_worker set alive = false');
      // A writer that begins before it knows the new worker.
      while (result.fencedOut === 0) await sleep(1);
      workerId = await seedWorker(superuser);
    },
    () => server.restart('fast'),
  ];
  for (const disturb of disturbances) {
    await sleep(phaseMs);
    await disturb();
  }
  await sleep(phaseMs);
  isWriting = false;
  await Promise.all(writers);
  isReading = false;
  await reader;

  const stored = await run('select id, sequence from webhook_delivery where subscription_id = $1 order by sequence', [
    subscriptionId,
  ]);
  result.stored = stored.map(({ id }) => id ?? '');
  let largest = 0n;
  for (const { id } of stored) {
    if (BigInt(id ?? 0) < largest) result.outOfOrder += 1;
    else largest = BigInt(id ?? 0);
  }
  await Promise.all([superuser, reading, ...writing].map((store) => store.close()));
  await database.drop();
  return result;
}

/** Lets new_record_id() read a clock that the table `test_clock` sets back. */
async function shiftClock(run: (text: string) => Promise<Record<string, string>[]>): Promise<void> {
  await run('create table test_clock (back_ms int)');
  await run('insert into test_clock values (0)');
  const { text = '' } = onlyRow(await run(`select pg_get_functiondef('new_record_id'::regproc) as text`));
  const shifted = `(clock_timestamp() - (select back_ms * interval '1 ms' from test_clock))`;
  await run(text.replaceAll('clock_timestamp()', shifted));
}
