import { randomUUID } from 'node:crypto';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { DatabaseError, Pool } from 'pg';
import { expect, test } from 'vitest';
import { append, fromPg } from '../src/index.ts';
import { createShopDatabase, orderPaid, snapshotOf } from './support/shop.ts';

const connections = 16;
const transactionsEach = 5;

const database = await forFile(createShopDatabase());
const owner = await forFile(connect(database.databaseUrl));

test.each(['read committed', 'repeatable read', 'serializable'])(
  '16 connections at %s, first without a partition, lose nothing and see no error but 40001',
  async (level) => {
    const partitions = await owner.run(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'deedwire.webhook_event'::regclass`,
    );
    for (const { name } of partitions) await owner.run(`drop table ${String(name)}`);
    await owner.run('delete from deedwire.webhook_event_queue; delete from "order"');
    const pool = await forTest(new Pool({ connectionString: database.databaseUrl, max: connections }));
    const states = new Set<string>();
    /** Whether the transaction is committed. */
    const write = async (id: string): Promise<boolean> => {
      const client = await pool.connect();
      try {
        await client.query(`begin isolation level ${level}`);
        await client.query(`insert into "order" values ($1, 'PAID')`, [id]);
        await append(fromPg(client), orderPaid, 'c-1', snapshotOf(id));
        await client.query('commit');
        return true;
      } catch (error) {
        states.add(error instanceof DatabaseError ? (error.code ?? '') : String(error));
        await client.query('rollback');
        return false;
      } finally {
        client.release();
      }
    };
    const writeAgain = async (id: string): Promise<void> => {
      while (!(await write(id)));
    };
    const ids = Array.from({ length: connections * transactionsEach }, () => randomUUID());
    await Promise.all(ids.map(writeAgain));
    const queued = await owner.run(`
      select e.snapshot #>> '{order,id}' as id
      from deedwire.webhook_event_queue q join deedwire.webhook_event e on e.id = q.event_id`);
    expect(queued.map(({ id }) => String(id)).toSorted()).toEqual(ids.toSorted());
    expect([...states].filter((state) => state !== '40001')).toEqual([]);
  },
);
