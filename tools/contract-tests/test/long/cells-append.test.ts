import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { callOperatorWith } from '@deedwire/dev-environment/harness';
import { migrate } from '@deedwire/store';
import { connect, type Connection, missing } from '@deedwire/testing';
import { DatabaseError } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CellServer, type CellServers, startCellServers } from '../support/cells/cell-servers.ts';
import { isWithoutPostgres } from '../support/failover/programs.ts';

// A chain of splits by `cell split`, while an application appends on 8 connections: the new side of each split is the old one of the next.

const splits = 5;
const connectionsOfAccount = 4;

/** The only account of an organization, and the orders whose transactions were committed. */
interface Account {
  externalId: string;
  organization: string;
  server: CellServer;
  committed: string[];
}

/** 40001, and what append_event() says of an account that is frozen. */
const expectedStates = ['40001', 'ZH001'];

describe.skipIf(isWithoutPostgres)('while an application appends', () => {
  let servers: CellServers;

  beforeEach(async () => {
    servers = await startCellServers();
    await migrate(servers.primary.url, testService, { organization: null });
    await servers.primary.run('create table shop_order (id uuid primary key, account text not null)');
  });

  afterEach(() => servers.stop());

  test.each(['read committed', 'repeatable read', 'serializable'])(
    `at %s, ${splits} splits lose and double no event`,
    async (level) => {
      const states = new Map<string, number>();
      let old = servers.primary;
      let staying = await addAccount(old, 'c-0');
      for (let number = 1; number <= splits; number += 1) {
        const leaving = await addAccount(old, `c-${number}`);
        const writing = startWriting(level, [staying, leaving], states);
        await writing.untilCommitted(20);
        const next = await servers.addStandby(`cell-${number}`, old);
        const env = { DATABASE_URL: old.url, NEW_CELL_DATABASE_URL: next.url, OPERATOR_NAME: 'ops' };
        for (const args of [
          ['prepare', '--to', String(number), '--leave', '-', '--yes'],
          ['freeze', '--yes'],
          ['wait'],
          ['promote', '--yes'],
          ['activate', '--yes'],
        ]) {
          const input = Buffer.from(leaving.organization);
          const { exitCode, stderr } = await callOperatorWith({ env, input }, 'cell', 'split', ...args);
          expect([args[0], stderr, exitCode]).toEqual([args[0], '', 0]);
          await writing.untilCommitted(5, [staying]);
        }
        leaving.server = next;
        await writing.untilCommitted(20);
        await writing.stop();
        expect(await ordersOf(old, staying)).toEqual(sortedTwice(staying.committed));
        expect(await ordersOf(next, leaving)).toEqual(sortedTwice(leaving.committed));
        // What the old side has is from before the freeze.
        const [before] = await ordersOf(old, leaving);
        expect(leaving.committed).toEqual(expect.arrayContaining(before ?? []));
        expect(await ordersOf(old, leaving)).toEqual([before, before]);
        await old.kill();
        [old, staying] = [next, leaving];
      }
      process.stderr.write(`append at ${level}: ${JSON.stringify(Object.fromEntries(states))}\n`);
      expect([...states.keys()].filter((state) => !expectedStates.includes(state))).toEqual([]);
    },
  );
});

async function addAccount(server: CellServer, externalId: string): Promise<Account> {
  const [{ organization } = missing()] = await server.run(
    `insert into organization (name) values ($1) returning gid('Organization', id::text) as organization`,
    [externalId],
  );
  await server.run(`select create_account('customer', $1, $1, $2)`, [externalId, organization]);
  return { externalId, organization: String(organization), server, committed: [] };
}

/** The ids of the orders of an account, by the table of the application and by the events that wait for a worker. */
async function ordersOf(server: CellServer, { externalId }: Account): Promise<string[][]> {
  const orders = await server.run('select id from shop_order where account = $1 order by id', [externalId]);
  const events = await server.run(
    `select e.snapshot #>> '{order,item}' as id
     from account a join webhook_event_queue q on q.account_id = a.id join webhook_event e on e.id = q.event_id
     where a.external_id = $1 order by 1`,
    [externalId],
  );
  return [orders, events].map((rows) => rows.map(({ id }) => String(id)));
}

const sortedTwice = (ids: readonly string[]): string[][] => [ids.toSorted(), ids.toSorted()];

/** Several connections for each account, which insert orders with their events, on the side that has the account. */
function startWriting(level: string, accounts: readonly Account[], states: Map<string, number>) {
  let isOver = false;
  const write = async (account: Account): Promise<void> => {
    let session: Connection | null = null;
    let { server } = account;
    while (!isOver) {
      if (session === null || server !== account.server) {
        await session?.close();
        ({ server } = account);
        session = await connect(server.url);
      }
      const id = randomUUID();
      try {
        // A freeze can come after the snapshot.
        await session.run(`begin isolation level ${level}; select from shop_order limit 1`);
        await sleep(Math.random() * 10);
        await session.run('insert into shop_order values ($1, $2)', [id, account.externalId]);
        await session.run(`select append_event('order.placed', $1, $2)`, [account.externalId, snapshotOf(id)]);
        await session.run('commit');
        account.committed.push(id);
      } catch (error) {
        const state = error instanceof DatabaseError ? (error.code ?? '') : String(error);
        states.set(state, (states.get(state) ?? 0) + 1);
        await session.run('rollback');
        await sleep(20);
      }
    }
    await session?.close();
  };
  const writers = accounts.flatMap((account) => Array.from({ length: connectionsOfAccount }, () => write(account)));
  return {
    async untilCommitted(more: number, some: readonly Account[] = accounts): Promise<void> {
      const wanted = some.map(({ committed }) => committed.length + more);
      await expect
        .poll(() => some.filter(({ committed }, index) => committed.length < (wanted[index] ?? 0)).length)
        .toBe(0);
    },
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

const snapshotOf = (item: string): string =>
  JSON.stringify({ order: { id: '4711', item, note: null }, placedAt: '2026-11-03T09:30:00.000Z' });
