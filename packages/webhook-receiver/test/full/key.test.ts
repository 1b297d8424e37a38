import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Handlers } from '../../src/handlers.ts';
import { memoryStore } from '../../src/memory.ts';
import type { WebhookReceiverOptions } from '../../src/options.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { createInboxReceiver, createWebhookReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import { redisStore } from '../../src/redis.ts';
import type { WebhookStore } from '../../src/store.ts';
import { openDatabase } from '../support/database.ts';
import { placed, deliveryOf, asRequest, secret } from '../support/delivery.ts';
import { jobLibraries } from '../support/job-libraries.ts';
import { silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { isWithoutRedis, startRedis } from '../support/redis-server.ts';

type Key = NonNullable<WebhookReceiverOptions<typeof events, unknown, unknown>['key']>;

/** The ids that the handlers got. */
let handled: string[];
let work: () => Promise<void> | void;

const { pool } = await openDatabase('');
const redis = isWithoutRedis ? undefined : await forFile(startRedis());

beforeEach(() => {
  handled = [];
  work = () => {};
});

const on: Handlers<events.WebhookEvent, unknown> = {
  'order.placed': {
    '2026-11-01': async (_event, { id }) => {
      handled.push(id);
      await work();
    },
  },
};

/** The processes of two releases share a store. */
function releases<Transaction>(
  store: WebhookStore<Transaction>,
  options: Partial<WebhookReceiverOptions<typeof events, Transaction, unknown>> = {},
): (key: Key) => WebhookReceiver {
  return (key) =>
    createWebhookReceiver({ events, prefix: 'X-Service', secrets: [secret], store, on, key, log: silent, ...options });
}

async function deliver(receiver: WebhookReceiver, id: string, eventNumber: number): Promise<unknown> {
  const delivery = deliveryOf({ id, body: { ...placed, id: eventId(eventNumber) } });
  const response = await receiver.fetch(asRequest(delivery));
  const json: unknown = await response.json();
  return typeof json === 'object' && json !== null ? Object.values(json)[0] : json;
}

const eventId = (number: number): string => `gid://service/WebhookEvent/${number}`;

const stores = {
  memory: () => memoryStore(),
  PostgreSQL: () => postgresStore(pool),
  Redis: () => redisStore({ send: ([name, ...values]) => redis?.client.call(name, ...values) ?? Promise.reject() }),
};

describe.each(Object.entries(stores))('the store in %s', (name, storeOf) => {
  const isSkipped = name === 'Redis' && isWithoutRedis;

  test.skipIf(isSkipped)('processes each event once while the key is set, and before and after', async () => {
    const release = releases(storeOf());
    const [before, replacing, after] = [release('webhook-id'), release('event.id'), release('webhook-id')];
    expect(await deliver(before, 'first_1', 1)).toBe('processed');
    // Retries of what was processed before.
    expect(await deliver(replacing, 'first_1', 1)).toBe('duplicate');
    expect(await deliver(replacing, 'first_2', 2)).toBe('processed');
    expect(await deliver(replacing, 'second_2', 2)).toBe('duplicate');
    // A process of the release before that still runs, and one of the release afterwards.
    expect(await deliver(before, 'first_2', 2)).toBe('duplicate');
    expect(await deliver(replacing, 'second_3', 3)).toBe('processed');
    expect(await deliver(after, 'second_3', 3)).toBe('duplicate');
    expect(await deliver(after, 'second_4', 4)).toBe('processed');
    expect(handled).toEqual(['first_1', eventId(2), eventId(3), 'second_4']);
  });

  test.skipIf(isSkipped).each([
    ['webhook-id', 'event.id'],
    ['event.id', 'webhook-id'],
  ] as const)('while a delivery is processed with the key %s, is busy with %s', async (key, other) => {
    const release = releases(storeOf());
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    work = () => {
      started.resolve();
      return gate.promise;
    };
    const number = key === 'event.id' ? 11 : 12;
    const id = `busy_${number}`;
    const first = deliver(release(key), id, number);
    await started.promise;
    expect(await deliver(release(other), id, number)).toBe('BUSY');
    gate.resolve();
    expect(await first).toBe('processed');
    expect(await deliver(release(other), id, number)).toBe('duplicate');
    expect(handled).toHaveLength(1);
  });

  test.skipIf(isSkipped)('remembers neither id of a delivery whose handler fails', async () => {
    const release = releases(storeOf());
    work = () => Promise.reject(new Error('The handler failed.'));
    expect(await deliver(release('event.id'), 'failed_21', 21)).toBe('HANDLER_FAILED');
    expect(await deliver(release('event.id'), 'failed_22', 22)).toBe('HANDLER_FAILED');
    work = () => {};
    expect(await deliver(release('webhook-id'), 'failed_21', 21)).toBe('processed');
    expect(await deliver(release('event.id'), 'other_22', 22)).toBe('processed');
  });

  test.skipIf(isSkipped)('processes a delivery again once both ids are forgotten', async () => {
    const receiver = releases(storeOf())('event.id');
    expect(await deliver(receiver, 'forgotten_31', 31)).toBe('processed');
    expect(await receiver.forget({ ids: [eventId(31)] })).toBe(1);
    expect(await deliver(receiver, 'forgotten_31', 31)).toBe('duplicate');
    expect(await receiver.forget({ ids: [eventId(31), 'forgotten_31'] })).toBe(1);
    expect(await deliver(receiver, 'forgotten_31', 31)).toBe('processed');
    expect(await receiver.forget({ since: new Date(Date.now() - 60_000) })).toBeGreaterThanOrEqual(2);
    expect(await deliver(receiver, 'forgotten_31', 31)).toBe('processed');
  });
});

test.each(jobLibraries)(
  'an inbox of %s accepts each event once while the key is set, and before and after',
  async (name, library) => {
    const { inbox, start, stop } = await library.open(pool, { events, on, table: `receipt_${name}` });
    await inbox.createTable();
    const release = (key: Key): WebhookReceiver =>
      createInboxReceiver({ events, prefix: 'X-Service', secrets: [secret], inbox, key, log: silent });
    const [before, replacing, after] = [release('webhook-id'), release('event.id'), release('webhook-id')];
    expect(await deliver(before, 'first_1', 1)).toBe('accepted');
    expect(await deliver(replacing, 'first_1', 1)).toBe('duplicate');
    expect(await deliver(replacing, 'first_2', 2)).toBe('accepted');
    expect(await deliver(replacing, 'second_2', 2)).toBe('duplicate');
    expect(await deliver(before, 'first_2', 2)).toBe('duplicate');
    expect(await deliver(after, 'second_2', 2)).toBe('duplicate');
    expect(await deliver(after, 'second_3', 3)).toBe('accepted');
    // What has no job of its own does not get one.
    expect(await inbox.retry({ since: new Date(0) })).toBe(3);
    await start();
    await expect.poll(() => handled.toSorted(), { timeout: 60_000 }).toEqual(['first_1', eventId(2), 'second_3']);
    await expect
      .poll(async () => (await pool.query(`select from "receipt_${name}" where processed_at is null`)).rowCount)
      .toBe(0);
    await stop();
    expect(await inbox.forget({ ids: [eventId(2), 'first_2', 'second_2'] })).toBe(3);
    expect(await deliver(replacing, 'first_2', 2)).toBe('accepted');
  },
);

test.each([
  ['webhook-id', 'event.id'],
  ['event.id', 'webhook-id'],
] as const)('processes an event once that was kept with the key %s and delivered again with %s', async (key, other) => {
  const keepUnhandled = postgresKeptEvents(pool);
  const number = key === 'event.id' ? 41 : 42;
  const release = releases(postgresStore(pool), { keepUnhandled });
  const without = releases(postgresStore(pool), { keepUnhandled, on: {} });
  const ids = [`kept_${number}`, `delivered_${number}`];
  const numbers = [number, number + 10];
  for (const [index, id] of ids.entries()) {
    expect(await deliver(without(key), id, numbers[index] ?? 0)).toBe('kept');
    // A process of the other release keeps it too.
    expect(await deliver(without(other), id, numbers[index] ?? 0)).toBe('kept');
  }
  expect(await deliver(release(other), ids[1] ?? '', numbers[1] ?? 0)).toBe('processed');
  expect(await release(other).processKept()).toEqual({ processed: 1, failed: 0 });
  for (const [index, id] of ids.entries())
    expect(await deliver(release(other), id, numbers[index] ?? 0)).toBe('duplicate');
  expect(handled).toHaveLength(2);
});

test('refuses another key', () => {
  // @ts-expect-error -- no key
  expect(() => releases(memoryStore())('id')).toThrow(`key must be 'webhook-id' or 'event.id'.`);
});
