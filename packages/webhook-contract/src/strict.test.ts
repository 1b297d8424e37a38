import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventVersion } from './event-type.ts';
import { strict } from './strict.ts';
import { body } from './webhook.test/2026-11-01.ts';

test('closes objects at every depth', () => {
  const closed = strict(z.object({ a: z.object({ b: z.string() }).nullable() }), 'data');
  expect(closed.safeParse({ a: { b: '' } }).success).toBe(true);
  expect(closed.safeParse({ a: null }).success).toBe(true);
  expect(closed.safeParse({ a: null, x: 1 }).success).toBe(false);
  expect(closed.safeParse({ a: { b: '', x: 1 } }).success).toBe(false);
  const later = strict(z.object({ a: z.object({ b: z.string() }).exactOptional() }), 'data');
  expect(later.safeParse({}).success).toBe(true);
  expect(later.safeParse({ a: { b: '' } }).success).toBe(true);
  expect(later.safeParse({ a: { b: '', x: 1 } }).success).toBe(false);
  expect(later.safeParse({ a: undefined }).success).toBe(false);
  const items = strict(z.array(z.object({ a: z.int() })), 'data');
  expect(items.safeParse([{ a: 1 }]).success).toBe(true);
  expect(items.safeParse([{ a: 1 }, { a: 1, x: 1 }]).success).toBe(false);
});

test('keeps what a value has to be', () => {
  const closed = strict(
    z.object({
      id: z.uuid(),
      status: z.enum(['OPEN', 'PAID']).optional(),
      isPaid: z.boolean(),
      amount: z.number().gt(0),
      lines: z.array(z.object({ sku: z.string().max(3) })).max(1),
    }),
    'data',
  );
  const valid = { id: '0198f3a6-4a3c-7d2e-9b1f-3c5d7e9f1a2b', isPaid: true, amount: 0.5, lines: [{ sku: 'abc' }] };
  expect(closed.safeParse(valid).success).toBe(true);
  expect(closed.safeParse({ ...valid, status: undefined }).success).toBe(true);
  for (const change of [
    { id: 'x' },
    { status: 'LOST' },
    { isPaid: 1 },
    { amount: 0 },
    { lines: [{ sku: 'abcd' }] },
    { lines: [{ sku: 'a' }, { sku: 'b' }] },
    { lines: [{ sku: 'a', x: 1 }] },
  ])
    expect({ change, accepted: closed.safeParse({ ...valid, ...change }).success }).toEqual({
      change,
      accepted: false,
    });
});

test('throws for a kind of schema that it cannot close, and names the field', () => {
  expect(() => strict(z.object({ a: z.array(z.map(z.int(), z.int())) }), 'data')).toThrow(
    'data.a[]: a payload cannot have ZodMap.',
  );
});

test('names the event type and the version of a payload that it cannot close', () => {
  const lifecycle = { version: '2026-11-01', status: 'preview', deprecatedOn: null, sunsetOn: null } as const;
  const message = z.union([z.literal('Northwind'), z.literal('Harbour')]);
  const data = body.shape.data.extend({ message });
  expect(() => eventVersion(lifecycle, body.extend({ data }))).toThrow(
    'webhook.test at 2026-11-01: data.message: a payload cannot have ZodUnion.',
  );
});
