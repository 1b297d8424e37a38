import { setTimeout } from 'node:timers/promises';
import { connect } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { shardOf } from '../../src/kernel/ids.ts';
import { closeAfterTest, FanOutWorld } from '../fan-out/fan-out-world.ts';
import { interceptStore } from '../fan-out/faulty-store.ts';
import { type SeededAccount, seedAccount } from '../support/seed.ts';

const deadEntries = 100_000;
const entriesPerInsert = 10_000;
const measuredMs = 20_000;
const pollMs = 500;
/** Two for each shard at a poll, and those of the entries since the poll before the last. */
const buffersMax = 300;

interface Read {
  readonly text: string;
  readonly values: readonly unknown[];
}

const at = (values: readonly number[], share: number): string =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]?.toFixed(1) ?? '-';

test('while a dump keeps the deleted entries of an account, reads of its queue visit few of them', async () => {
  const world = await FanOutWorld.create();
  const [hot, other] = [await seedAccount(world.store), await seedAccount(world.store)];
  await world.subscribe(hot, '2026-11-01');
  await world.subscribe(other, '2026-11-01');
  let lastRead: Read | null = null;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-queue'(run, { text }, values) {
      if (String(values[0]).includes(String(shardOf(hot.id)))) lastRead = { text, values };
      return run();
    },
  });
  const offered = new Map<string, number>();
  const offeredTo = ({ id }: SeededAccount): number => offered.get(id) ?? 0;
  const fanOut = world.start({
    store,
    offer(deliveries) {
      for (const { accountId } of deliveries) offered.set(accountId, (offered.get(accountId) ?? 0) + 1);
    },
    limits: { pollMs },
  });

  const connection = await connect(world.databaseUrl);
  closeAfterTest(() => connection.close());
  await connection.run('set enable_seqscan = off');
  const buffersOf = async ({ text, values }: Read): Promise<number> => {
    const [row = {}] = await connection.run(`explain (analyze, buffers, format json) ${text}`, values);
    const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: Record<string, number> }];
    return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  };

  /** Adds events of both accounts in turn, and prints how long those of the hot one wait from their commit, and what reads visit. */
  const measure = async (name: string): Promise<number[]> => {
    const waits: number[] = [];
    const buffers: number[] = [];
    for (const endsAtMs = performance.now() + measuredMs; performance.now() < endsAtMs;) {
      for (const account of [hot, other]) {
        const before = offeredTo(account);
        await world.addEvents(account, 1);
        const committedAtMs = performance.now();
        fanOut.wake([shardOf(account.id)]);
        while (offeredTo(account) === before) await setTimeout(1);
        if (account === hot) waits.push(performance.now() - committedAtMs);
      }
      if (waits.length % 5 === 0 && lastRead !== null) buffers.push(await buffersOf(lastRead));
      await setTimeout(20);
    }
    process.stdout.write(
      `${name}: ${waits.length} events waited p50 ${at(waits, 0.5)} ms, p99 ${at(waits, 0.99)} ms; ` +
        `${buffers.length} reads visited p50 ${at(buffers, 0.5)}, p95 ${at(buffers, 0.95)} pages\n`,
    );
    return buffers;
  };

  await measure('No snapshot');
  const dump = await connect(world.databaseUrl);
  closeAfterTest(() => dump.close());
  await dump.run('begin isolation level repeatable read; select from webhook_event_queue');
  const before = offeredTo(hot);
  for (let count = 0; count < deadEntries; count += entriesPerInsert) {
    await world.rows(
      `insert into webhook_event_queue (account_id, interface, event_id)
       select account_id, interface, id
       from (select * from webhook_event where account_id = $1 limit 1) event, generate_series(1, $2::int)`,
      [hot.id, entriesPerInsert],
    );
  }
  fanOut.wake([shardOf(hot.id)]);
  while (offeredTo(hot) < before + deadEntries) await setTimeout(10);
  // Until the next polls have noted how far the account is.
  await setTimeout(3 * pollMs);

  const buffers = await measure(`An old snapshot, with ${deadEntries} deleted entries`);
  expect(Math.max(...buffers)).toBeLessThanOrEqual(buffersMax);
  // It has held its snapshot until here.
  await dump.run('commit');
});
