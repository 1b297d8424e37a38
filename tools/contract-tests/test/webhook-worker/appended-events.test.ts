import { randomUUID } from 'node:crypto';
import { append, fromPg, wake } from '@deedwire/append';
import { formatAccountGid } from '@deedwire/core';
import { renderedOrderPlaced } from '@deedwire/core/test-service';
import { callOperator } from '@deedwire/dev-environment/harness';
import { connect, eventually, missing, type ReceivedRequest } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { Client, Pool } from 'pg';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

const snapshotOf = (item: string) => ({
  order: { id: 'gid://service/Order/4711', item, note: null },
  placedAt: '2026-11-03T09:30:00.000Z',
});

const place = { schema: 'public' };

const itemOf = ({ body }: ReceivedRequest): unknown => JSON.parse(body.toString()).data.item;

test('an event that the application appends in its own transaction is delivered, signed, if it commits', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker({ POLL_INTERVAL_MS: 60_000 });
  const { secret } = await harness.subscribe(receiver.url, ['order.placed']);
  const account = formatAccountGid(harness.customerApi, 'customer', harness.accounts.customer.accountId);
  const pool = new Pool({ connectionString: harness.database.databaseUrl, max: 2 });
  await pool.query('create table shop_order (id uuid primary key)');
  for (const end of ['rollback', 'commit']) {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('insert into shop_order values ($1)', [randomUUID()]);
    await append(fromPg(client, place), renderedOrderPlaced, account, snapshotOf(end));
    await client.query(end);
    client.release();
  }
  await wake(fromPg(pool, place), account);
  await pool.end();
  const [request] = await receiver.waitFor(1);
  expect(receiver.deliveries.map(itemOf)).toEqual(['commit']);
  expect(verifyWebhook({ secret, headers: request?.headers ?? {}, body: request?.body ?? '' })).toBeDefined();
});

test('an event of a prepared transaction is delivered once that is committed, and delays no later event', async ({
  harness,
  receiver,
}) => {
  const [{ max } = {}] = await harness.sql(`select current_setting('max_prepared_transactions')::int as max`);
  // A server that another one than these tests has started.
  if (max === 0) return;
  await harness.startWorker({ POLL_INTERVAL_MS: 100 });
  await harness.subscribe(receiver.url, ['order.placed']);
  const account = formatAccountGid(harness.customerApi, 'customer', harness.accounts.customer.accountId);
  const client = new Client({ connectionString: harness.database.databaseUrl });
  await client.connect();
  const name = randomUUID();
  await client.query('begin');
  await append(fromPg(client, place), renderedOrderPlaced, account, snapshotOf('prepared'));
  await client.query(`prepare transaction '${name}'`);
  await client.query('begin');
  await append(fromPg(client, place), renderedOrderPlaced, account, snapshotOf('later'));
  await client.query('commit');
  await receiver.waitFor(1);
  await client.query(`commit prepared '${name}'`);
  await client.end();
  await receiver.waitFor(2);
  expect(receiver.deliveries.map(itemOf)).toEqual(['later', 'prepared']);
});

test('a snapshot that no renderer accepts is found by the commands of the page, and repaired by another event', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker({ POLL_INTERVAL_MS: 100 });
  await harness.subscribe(receiver.url, ['order.placed']);
  const account = formatAccountGid(harness.customerApi, 'customer', harness.accounts.customer.accountId);
  const snapshot = snapshotOf('Tea');
  const appendText = (text: object) =>
    harness.sql(`select append_event('order.placed', $1, $2) as id`, [account, JSON.stringify(text)]);
  const [{ id: eventId } = {}] = await appendText({ ...snapshot, placedAt: 'yesterday' });
  const operate = async (...commandArguments: string[]) =>
    callOperator({ DATABASE_URL: await harness.database.urlFor('operator') }, ...commandArguments);
  const [{ id, event } = missing()] = await eventually(async (): Promise<{ id: string; event: { id: string } }[]> => {
    const listed = JSON.parse(
      (await operate('delivery', 'list', '--status', 'FAILED', '--since', '1d', '--json')).stdout,
    );
    expect(listed).toHaveLength(1);
    return listed;
  });
  expect(event.id).toBe(`gid://service/WebhookEvent/${String(eventId)}`);
  expect((await operate('delivery', 'show', id)).stdout).toContain('RENDERING_FAILED');
  expect(await harness.metrics()).toContain('deedwire_alarms_total{alarm="rendering-failed"} 1');
  expect(await operate('delivery', 'retry', id)).toMatchObject({ exitCode: 1 });
  await appendText(snapshot);
  await receiver.waitFor(1);
  expect(receiver.deliveries.map(itemOf)).toEqual(['Tea']);
});

test('a trigger of the application appends by SQL, for an account of its own id, and the poll finds the event', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker({ POLL_INTERVAL_MS: 200 });
  await harness.sql(`update account set external_id = 'c-7' where id = $1`, [harness.accounts.customer.accountId]);
  await harness.subscribe(receiver.url, ['order.placed']);
  const session = await connect(harness.database.databaseUrl);
  await session.run(`
    create table shop_order (id bigint primary key, customer text not null, item text not null, placed_at timestamptz not null default now());
    create function report_order() returns trigger language plpgsql as $$
    begin
      perform append_event('order.placed', new.customer, json_build_object(
        'order', json_build_object('id', gid('Order', new.id::text), 'item', new.item, 'note', null),
        'placedAt', to_char(new.placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
      return null;
    end $$;
    create trigger report_order after insert on shop_order for each row execute function report_order()`);
  await session.run(`insert into shop_order select number, 'c-7', 'Tea ' || number from generate_series(1, 3) number`);
  await session.close();
  await receiver.waitFor(3);
  expect(receiver.deliveries.map(itemOf)).toEqual(['Tea 1', 'Tea 2', 'Tea 3']);
});
