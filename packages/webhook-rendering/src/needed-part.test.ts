import { eventOf, type RenderData, snapshotSchema } from '@deedwire/core';
import { orderPlaced, testService } from '@deedwire/core/test-service';
import { missing } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { proveNeededParts } from '../test/prove-needed-parts.ts';
import { neededPart } from './needed-part.ts';
import { renderingsOf } from './renderer.ts';

const read = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

proveNeededParts(testService.events);

test('needs the fields that are read, with the values that a payload accepts', () => {
  const placed = eventOf(testService, orderPlaced.type) ?? missing();
  const rendering = renderingsOf(placed).find(({ version }) => version === '2026-11-01') ?? missing();
  expect(neededPart(rendering, placed.sample('service'), snapshotSchema(placed))).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      order: {
        type: 'object',
        properties: { id: { type: 'string' }, item: { type: 'string' }, note: { type: ['string', 'null'] } },
        required: ['id', 'item', 'note'],
      },
      placedAt: { type: 'string' },
    },
    required: ['order', 'placedAt'],
  });
});

const payload = { type: 'order.paid', version: '2027-06-01' };

const renderStatus = (value: unknown) => ({ now: read(value, 'status'), former: read(value, 'former') });

test('needs the values of an enum that a payload does not extend', () => {
  const status = { type: 'string', enum: ['OPEN', 'PAID'] };
  const properties = { status, former: { anyOf: [status, { type: 'null' }] } };
  const snapshot = { type: 'object', properties, required: ['status', 'former'] };
  const part = (schema: z.ZodType) =>
    neededPart({ ...payload, render: renderStatus, schema }, { status: 'OPEN', former: 'PAID' }, snapshot);
  expect(part(z.object({ now: z.string(), former: z.string().nullable() }))).toEqual({
    ...snapshot,
    properties: { status: { type: 'string' }, former: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  });
  const values = z.enum(['OPEN', 'PAID']);
  expect(part(z.object({ now: values, former: values.nullable() }))).toEqual(snapshot);
});

test('needs a value that is rendered as a whole as a whole, and copied fields each', () => {
  const part = (render: RenderData<unknown>) =>
    neededPart({ ...payload, render, schema: z.any() }, { supplier: { id: '1', name: 'x' }, at: 'now' }, snapshot);
  const supplier = {
    type: 'object',
    properties: { id: { type: 'string' }, name: { type: 'string' } },
    required: ['id', 'name'],
  };
  const snapshot = { type: 'object', properties: { supplier, at: { type: 'string' } }, required: ['at', 'supplier'] };
  const needed = { type: 'object', properties: { supplier }, required: ['supplier'] };
  expect(part((value) => ({ supplier: read(value, 'supplier') }))).toEqual(needed);
  expect(part((value) => ({ supplier: { ...Object(read(value, 'supplier')) } }))).toEqual(needed);
});
