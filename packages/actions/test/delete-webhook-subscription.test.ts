import { expect, test } from 'vitest';
import { deleteWebhookSubscription, pauseWebhookSubscription, rotateWebhookSecret } from '../src/index.ts';
import { deleteSubscriptionOfAccount } from '../src/subscriptions/webhook-subscriptions.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

/** A subscription that has all that its deletion erases, as the number of its record. */
async function subscribe(name: string): Promise<{ id: string; number: string }> {
  const { id } = await world.subscribe({ name, idempotencyKey: `create-${name}` });
  await rotateWebhookSecret(world.customerApi, world.customer, { id, idempotencyKey: `rotate-${name}` });
  await pauseWebhookSubscription(world.customerApi, world.customer, { id });
  return { id, number: id.split('/').at(-1) ?? '' };
}

const ofTable = (table: unknown) => `
  select '${String(table)}' as table, to_jsonb(t) - '{id,key,claim,position,queue_position}'::text[] as row
  from ${String(table)} t where to_jsonb(t)::text ~ $1`;

/** The rows of all tables that name a subscription, without what differs for every one. */
async function rowsOf(number: string): Promise<unknown[]> {
  const tables = await world.sql(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'audit_entry'
    order by 1`);
  const rows = await world.sql(
    `select replace("table" || ' ' || row, $1, 'number') as row
     from (${tables.map(({ name }) => ofTable(name)).join(' union all ')}) r
     order by 1`,
    [number],
  );
  return rows.map(({ row }) => String(row).replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, 'time'));
}

test('an operator deletes a subscription as its owner does, and both notify the worker', async () => {
  const [own, other] = [await subscribe('own'), await subscribe('other')];
  const before = world.customerApi.notified;
  await deleteWebhookSubscription(world.customerApi, world.customer, { id: own.id });
  await deleteSubscriptionOfAccount(world.operator, { subscriptionId: other.id });
  expect([world.customerApi.notified, world.operator.notified]).toEqual([before + 1, 1]);
  const rows = await rowsOf(own.number);
  expect(rows).toContainEqual(expect.stringContaining('"record_deleted": true'));
  expect(await rowsOf(other.number)).toEqual(rows);
});
