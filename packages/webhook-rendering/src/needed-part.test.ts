import { type RenderData, type SnapshotSchema, snapshotSchema } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { neededPart } from './needed-part.ts';
import { renderingsOf } from './renderer.ts';

const read = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
const renders = firm.events.flatMap((event) => {
  const [sample, schema] = [event.sample('service'), snapshotSchema(event)];
  return renderingsOf(event).map((rendering) => ({
    ...rendering,
    data: rendering.schema,
    sample,
    schema,
    needs: neededPart(rendering, sample, schema),
  }));
});

/** The fields of a snapshot that a schema lists. */
function only(value: unknown, schema: SnapshotSchema | undefined): unknown {
  if (schema?.properties === undefined || typeof value !== 'object' || value === null) return value;
  const { properties } = schema;
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(kept.map(([name, property]) => [name, only(property, properties[name])]));
}

/** The snapshot of a build that appends only what every build does. */
function withoutOptional(value: unknown, { properties = {}, required = [] }: SnapshotSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([name]) => required.includes(name));
  return Object.fromEntries(kept.map(([name, property]) => [name, withoutOptional(property, properties[name] ?? {})]));
}

/** The value with null in each place where the schema allows it. */
function withNulls(value: unknown, { type, properties = {} }: SnapshotSchema): unknown {
  if (Array.isArray(type) && type.includes('null')) return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, withNulls(property, properties[name] ?? {})]),
  );
}

/** The schema without one of its fields, once for each field at any depth. */
function withoutEach(schema: SnapshotSchema): SnapshotSchema[] {
  const { properties = {} } = schema;
  return Object.entries(properties).flatMap(([name, property]) => {
    const { [name]: _, ...others } = properties;
    const deeper = withoutEach(property).map((inner) => ({ ...schema, properties: { ...properties, [name]: inner } }));
    return [{ ...schema, properties: others }, ...deeper];
  });
}

describe.each(renders.map(({ type, version, ...rest }) => [type, version, rest] as const))(
  '%s at %s',
  (_type, _version, { render, data, sample, schema: whole, needs }) => {
    function isValid(rendered: () => unknown): boolean {
      try {
        return data.safeParse(rendered()).success;
      } catch {
        return false;
      }
    }

    test('renders the same from the part that it needs', () => {
      const appended = withoutOptional(sample, whole);
      for (const snapshot of [appended, withNulls(appended, whole)])
        expect(render(only(snapshot, needs))).toEqual(render(snapshot));
    });

    test('renders no valid payload without any field of this part', () => {
      const fewer = withoutEach(needs);
      expect(fewer).not.toEqual([]);
      for (const schema of fewer) {
        expect({ schema, isValid: isValid(() => render(only(sample, schema))) }).toEqual({
          schema,
          isValid: false,
        });
      }
    });
  },
);

test('needs the fields that are read, with the values that a payload accepts', () => {
  const found = renders.find(({ type, version }) => `${type}@${version}` === 'referral.converted@2027-02-01');
  expect(found?.needs).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      referral: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          status: { type: 'string' },
          externalReference: { type: ['string', 'null'] },
        },
        required: ['id', 'status', 'externalReference'],
      },
      matter: {
        type: 'object',
        properties: { id: { type: 'string' }, reference: { type: 'string' }, openedAt: { type: 'string' } },
        required: ['id', 'reference', 'openedAt'],
      },
    },
    required: ['referral', 'matter'],
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
    neededPart({ ...payload, render, schema: z.any() }, { lender: { id: '1', name: 'x' }, at: 'now' }, snapshot);
  const lender = {
    type: 'object',
    properties: { id: { type: 'string' }, name: { type: 'string' } },
    required: ['id', 'name'],
  };
  const snapshot = { type: 'object', properties: { lender, at: { type: 'string' } }, required: ['at', 'lender'] };
  const needed = { type: 'object', properties: { lender }, required: ['lender'] };
  expect(part((value) => ({ lender: read(value, 'lender') }))).toEqual(needed);
  expect(part((value) => ({ lender: { ...Object(read(value, 'lender')) } }))).toEqual(needed);
});
