import { expect, test } from 'vitest';
import { z } from 'zod';
import { derivedFixturesOf, deriveFixtures } from './derived-fixtures.ts';

const envelope = {
  id: { type: 'string', pattern: '^gid:' },
  type: { type: 'string', const: 'invoice.paid' },
  version: { type: 'string', const: '2026-12-31' },
};
const typical = { id: 'gid://service/WebhookEvent/1', type: 'invoice.paid', version: '2026-12-31' };

const bodySchema = (properties: object) => ({
  type: 'object',
  properties: {
    ...envelope,
    data: { type: 'object', properties: { ...properties }, required: Object.keys(properties) },
  },
  required: ['id', 'type', 'version', 'data'],
});

const derive = (field: object, data: object) => deriveFixtures(bodySchema({ amount: field }), { ...typical, data });

test('derives the fixtures of a nullable object and of a time inside it', () => {
  const payment = {
    type: 'object',
    properties: { paidAt: { type: 'string', format: 'date-time' } },
    required: ['paidAt'],
  };
  const schema = bodySchema({ payment: { anyOf: [payment, { type: 'null' }] } });
  const data = { payment: { paidAt: '2026-12-30T10:00:00.000Z' } };
  const fixtures = deriveFixtures(schema, { ...typical, data });
  const dataOf = (path: string): unknown => Object(fixtures.get(path)).data;
  expect(dataOf('accept/null-data-payment.json')).toEqual({ payment: null });
  expect(dataOf('reject/missing-data-payment.json')).toEqual({});
  expect(dataOf('reject/wrong-type-data-payment.json')).toEqual({ payment: [data.payment] });
  expect(dataOf('reject/null-data-payment-paid-at.json')).toEqual({ payment: { paidAt: null } });
  expect(dataOf('loose-time/with-offset-data-payment-paid-at.json')).toEqual({
    payment: { paidAt: '2026-12-30T10:00:00.000+01:00' },
  });
  expect(dataOf('unknown-field/in-data-payment.json')).toEqual({ payment: { ...data.payment, addedLater: 'x' } });
  expect(fixtures.get('other-event/another-version.json')).toMatchObject({ version: '2027-01-01' });
});

test('derives the fixtures of an integer and of an array', () => {
  const count = derive({ type: 'integer' }, { amount: 1 });
  expect(count.get('reject/wrong-type-data-amount.json')).toMatchObject({ data: { amount: '1' } });
  const list = derive({ type: 'array', items: { type: 'string' } }, { amount: ['a'] });
  expect(list.get('reject/wrong-type-data-amount.json')).toMatchObject({ data: { amount: 42 } });
  expect(list.get('reject/wrong-type-in-data-amount.json')).toMatchObject({ data: { amount: [42] } });
});

test('derives the fixtures of a field that older bodies lack', () => {
  const changed = { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] };
  const data = { type: 'object', properties: { changed } };
  const schema = { ...bodySchema({}), properties: { ...envelope, data } };
  const fixtures = deriveFixtures(schema, { ...typical, data: { changed: ['a'] } });
  const paths = [...fixtures.keys()].filter((path) => path.includes('changed'));
  expect(paths.toSorted()).toEqual([
    'accept/missing-data-changed.json',
    'accept/null-data-changed.json',
    'reject/wrong-type-data-changed.json',
    'reject/wrong-type-in-data-changed.json',
  ]);
  expect(fixtures.get('accept/missing-data-changed.json')).toMatchObject({ data: {} });
});

test('names a field with alternatives, a field of another type, and a field without a typical value', () => {
  expect(() => derive({ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, { amount: 'x' })).toThrow(
    'data.amount: no fixture can be derived from alternatives.',
  );
  expect(() => derive({ type: 'boolean' }, { amount: true })).toThrow(
    'data.amount: no fixture can be derived from the type boolean.',
  );
  expect(() => derive({ type: ['string', 'null'] }, { amount: null })).toThrow(
    'data.amount: the typical body has no value.',
  );
});

test('names the typical body that does not match its schema, the schema and each field', () => {
  const body = z.object({ data: z.object({ name: z.iso.date(), formerName: z.string().nullable() }) });
  const listed = { version: '2026-11-01', status: 'preview', deprecatedOn: null, sunsetOn: null } as const;
  expect(() => derivedFixturesOf('lender.updated', { ...listed, body, schema: {} })).toThrow(
    `packages/webhook-events/fixtures/lender.updated/2026-11-01/accept/typical.json does not match src/lender.updated/2026-11-01.ts. Change one of them:
  data.name: Invalid ISO date
  data.formerName: Invalid input: expected string, received undefined
`,
  );
});
