import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountId, toRecordId } from '@deedwire/core';
import { connect, type Connection, patientTimeouts, seededRandom, startTcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { createStore, type SharedWrite, type Store, StoreUnavailableError, type WriteResult } from '../src/index.ts';
import type { KeyClaim } from '../src/transactions/idempotency.ts';
import { createServiceDatabase } from './support/database.ts';
import { orderWrite } from './support/order-write.ts';
import { seedAccount } from './support/seed.ts';

const accounts: AccountId[] = [];

const database = await forFile(createServiceDatabase());
const observer = await forFile(connect(database.databaseUrl));
const seeding = createStore({ databaseUrl: database.databaseUrl, applicationName: 'seed' });
for (let number = 0; number < 3; number += 1) accounts.push((await seedAccount(seeding, 'customer')).id);
await seeding.close();

interface Planned {
  name: string;
  account: AccountId;
  client: string;
  key: string | null;
  /** PostgreSQL refuses a column of the row. */
  isBad: boolean;
  afterMs: number;
}

function sharedWrite({ name, account, client, key, isBad }: Planned): SharedWrite<string> {
  const write = orderWrite(account, name, { clientId: client, key: key === null ? null : claimOf(account, key) });
  if (!isBad) return write;
  return {
    ...write,
    rows(drawn) {
      const written = write.rows(drawn);
      // An account that does not exist.
      return { ...written, rows: written.rows.map(({ into, values }) => ({ into, values: values.with(1, '1') })) };
    },
  };
}

const claimOf = (accountId: AccountId, key: string): KeyClaim => ({
  accountId,
  mutation: 'placeOrder',
  key,
  claimId: randomUUID(),
  interfaceName: 'customer',
  inputHash: Buffer.alloc(32),
});

/** Locks an account for a moment, or ends a connection of the writers. */
async function disturb(random: () => number, holder: Connection, cut: () => void): Promise<void> {
  await sleep(random() * 40);
  const kind = Math.floor(random() * 3);
  if (kind === 0) {
    await holder.run('begin');
    await holder.run('select from account where id = $1 for update', [accounts[Math.floor(random() * 3)]]);
    await sleep(random() * 150);
    await holder.run('commit');
  } else if (kind === 1) {
    await holder.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'writer-writes' limit 1`,
    );
  } else cut();
}

async function outcomeOf(store: Store, planned: Planned): Promise<WriteResult<string> | Error> {
  await sleep(planned.afterMs);
  return store.write(sharedWrite(planned)).catch((error: unknown) => {
    if (error instanceof Error) return error;
    throw error;
  });
}

test.for(Array.from({ length: Number(process.env['RUNS'] ?? 4) }, (_, seed) => seed + 1))(
  'random writes of two processes among faults end as each would alone, seed %d',
  async (seed) => {
    const random = seededRandom(seed);
    await observer.run('delete from customer_order; delete from idempotency_key');
    const holder = await connect(database.databaseUrl);
    const proxy = await startTcpProxy(database.databaseUrl);
    const stores = [database.databaseUrl, proxy.url].map((databaseUrl) =>
      createStore({ databaseUrl, tables: ['customer_order'], applicationName: 'writer', timeouts: patientTimeouts }),
    );
    onTestFinished(async () => {
      await holder.close();
      for (const store of stores) await store.close();
      await proxy.close();
    });
    const pick = (count: number): number => Math.floor(random() * count);
    const plans = Array.from({ length: 150 }, (_, index): Planned => ({
      name: `R${index}`,
      account: accounts[pick(3)] ?? toRecordId('0'),
      client: `client ${pick(3)}`,
      key: random() < 0.5 ? `key ${pick(25)}` : null,
      isBad: random() < 0.05,
      afterMs: random() * 80,
    }));
    const disturbed = (async () => {
      for (let fault = 0; fault < 3; fault += 1) await disturb(random, holder, () => proxy.reset());
    })();
    const outcomes = await Promise.all(
      plans.map(async (planned) => {
        const store = stores[pick(2)];
        if (store === undefined) throw new Error('There is no such store.');
        return { planned, outcome: await outcomeOf(store, planned) };
      }),
    );
    await disturbed;

    const stored = await observer.run('select item as name, account_id::text as account from customer_order');
    const accountOf = new Map(stored.map(({ name, account }) => [String(name), account]));
    expect(accountOf.size).toBe(stored.length);
    const keys = await observer.run(
      `select account_id::text as account, key, payload->>'name' as name from idempotency_key`,
    );
    const nameOf = new Map(keys.map(({ account, key, name }) => [`${String(account)} ${String(key)}`, name]));
    const wrong = outcomes.filter(({ planned, outcome }) => {
      const isStored = accountOf.get(planned.name) === planned.account;
      const hasKey = planned.key !== null && nameOf.get(`${planned.account} ${planned.key}`) === planned.name;
      // The response to COMMIT was lost, or it was never sent.
      if (outcome instanceof StoreUnavailableError) return planned.key !== null && isStored !== hasKey;
      if (outcome instanceof Error) return !planned.isBad || isStored || hasKey;
      if (outcome.kind === 'key-known') return isStored || hasKey;
      return !isStored || planned.isBad || outcome.answer !== planned.name || (planned.key !== null && !hasKey);
    });
    expect(wrong).toEqual([]);
    // What was stored belongs to a write, and each key to what is stored.
    for (const name of nameOf.values()) expect(accountOf.has(String(name))).toBe(true);
    expect(outcomes.filter(({ outcome }) => !(outcome instanceof Error)).length).toBeGreaterThan(50);
  },
);
