import { defineEvent, defineService } from '@deedwire/core';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { payloadChanges } from './payload-changes.ts';

const snapshot = z.object({ order: z.object({ id: z.string(), note: z.string().nullable() }) });
const sample = () => ({ order: { id: 'A-1', note: null } });
const render = () => ({}) as never;

function serviceWith(versions: Record<string, { status: 'current' | 'preview' | 'retired'; data: z.ZodType }>) {
  const published = Object.entries(versions).map(([date, { status, data }]) => [
    date,
    status === 'retired'
      ? { status, data, deprecatedOn: '2026-11-01', sunsetOn: '2027-11-01' }
      : { status, data, render },
  ]);
  return defineService({
    names: { service: 'shop', gidNamespace: 'shop', apiKeyPrefix: 'sh', headerPrefix: 'X-Shop', userAgent: 'Shop' },
    interfaces: { customer: { title: 'Customer', account: 'Customer' } },
    events: [
      defineEvent('order.placed', {
        description: 'An order was placed.',
        interfaces: ['customer'],
        snapshot,
        sample,
        versions: Object.fromEntries(published),
      }),
    ],
  });
}

test('lists what each version changes against each earlier one that is served, in words', () => {
  const service = serviceWith({
    '2025-11-01': { status: 'retired', data: z.object({ old: z.string() }) },
    '2026-11-01': { status: 'current', data: z.object({ id: z.string(), note: z.string().max(80), same: z.int() }) },
    '2027-02-01': {
      status: 'current',
      data: z.object({
        note: z.string().max(80).nullable(),
        same: z.int(),
        status: z.enum(['OPEN', 'PAID']).optional(),
      }),
    },
    '2027-06-01': {
      status: 'preview',
      data: z.object({ order: z.object({ id: z.uuid() }), lines: z.array(z.object({ sku: z.string() })) }),
    },
  });
  const changes = payloadChanges(service);
  expect(Object.keys(changes)).toEqual([
    'order.placed 2026-11-01 2027-02-01',
    'order.placed 2026-11-01 2027-06-01',
    'order.placed 2027-02-01 2027-06-01',
  ]);
  expect(changes['order.placed 2026-11-01 2027-02-01']).toEqual([
    { path: 'data.id', before: 'string', after: null },
    { path: 'data.note', before: 'string, at most 80 characters', after: 'string, at most 80 characters, can be null' },
    { path: 'data.status', before: null, after: '"OPEN" or "PAID", optional' },
  ]);
  expect(changes['order.placed 2026-11-01 2027-06-01']?.slice(3)).toEqual([
    { path: 'data.order', before: null, after: 'object' },
    { path: 'data.order.id', before: null, after: 'string, uuid' },
    { path: 'data.lines', before: null, after: 'array of object' },
    { path: 'data.lines[*].sku', before: null, after: 'string' },
  ]);
});
