import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineEvent } from './define-event.ts';
import { defineService } from './define-service.ts';

const names = {
  service: 'shop',
  gidNamespace: 'shop',
  apiKeyPrefix: 'shop',
  headerPrefix: 'X-Shop',
  userAgent: 'Shop-Webhooks',
} as const;
const interfaces = { customer: { title: 'Customer', account: 'Customer', versions: { '2026-11-01': {} } } };
const id = '7d444840-9dc0-41d1-b245-5ffdce74fad2';

const orderPaid = defineEvent('order.paid', {
  description: 'An order was paid.',
  interfaces: ['customer'],
  record: { type: 'Order', id: ({ order }) => order.id },
  snapshot: z.object({ order: z.object({ id: z.uuid(), total: z.int() }) }),
  sample: () => ({ order: { id, total: 1 } }),
  versions: {
    '2026-11-01': {
      status: 'current',
      data: z.object({ orderId: z.uuid() }),
      render: ({ order }) => ({ orderId: order.id }),
    },
    '2027-02-01': {
      status: 'preview',
      data: z.object({ order: z.object({ id: z.uuid() }) }),
      render: ({ order }) => ({ order: { id: order.id } }),
    },
  },
});

test('a service has its events beside those of the platform, in the order of their types', () => {
  const { events } = defineService({ names, interfaces, events: [orderPaid] });
  const types = events.map(({ type }) => type);
  expect(types).toContain('webhook.test');
  expect(types).toEqual(types.toSorted());
  expect(events.find(({ type }) => type === 'order.paid')).toMatchObject({
    interfaces: ['customer'],
    versions: [
      { version: '2026-11-01', status: 'current', deprecatedOn: null, sunsetOn: null },
      { version: '2027-02-01', status: 'preview' },
    ],
  });
});

test('a payload cannot have what its schema does not have, at any depth', () => {
  const [, preview] = orderPaid.contract.versions;
  expect(preview?.data.safeParse({ order: { id } }).success).toBe(true);
  expect(preview?.data.safeParse({ order: { id, total: 1 } }).success).toBe(false);
});

test('a service without events has those of the platform', () => {
  expect(defineService({ names, interfaces }).events.map(({ type }) => type)).toContain('webhook.test');
});

const noted = (data: z.ZodObject, snapshot: z.ZodType<object> = z.object({})) =>
  defineEvent('order.noted', {
    description: 'An order was noted.',
    interfaces: ['customer'],
    snapshot,
    sample: () => ({}),
    versions: { '2026-11-01': { status: 'current', data, render: () => ({}) } },
  });

/** As another copy of zod makes one: with its own classes. */
function foreign(schema: z.ZodType): z.ZodType {
  const copy = schema.clone();
  Object.assign(Reflect.get(copy, '_zod'), { constr: null });
  return copy;
}

test('refuses a schema of another copy of zod, and names it', () => {
  const advice = 'made by another copy of zod. Make the schemas of events with the `z` that @deedwire/service exports.';
  expect(() => noted(z.object({ note: foreign(z.string()) }))).toThrow(
    `order.noted at 2026-11-01: data.note is ${advice}`,
  );
  expect(() => noted(z.object({ notes: z.array(foreign(z.string()).nullable()) }))).toThrow(
    `order.noted at 2026-11-01: data.notes[] is ${advice}`,
  );
  expect(() => noted(z.object({}), z.object({ note: foreign(z.string()) }))).toThrow(
    `order.noted: snapshot.note is ${advice}`,
  );
});

test('refuses a kind that a payload cannot have', () => {
  expect(() => noted(z.object({ at: z.date() }))).toThrow('order.noted at 2026-11-01: data.at');
});
