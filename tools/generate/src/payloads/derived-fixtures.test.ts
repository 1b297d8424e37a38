import { expect, test } from 'vitest';
import { z } from 'zod';
import { commonFolder } from '../platform-folders.ts';
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
    'reject/null-in-data-changed.json',
    'reject/wrong-type-data-changed.json',
    'reject/wrong-type-in-data-changed.json',
  ]);
  expect(fixtures.get('accept/missing-data-changed.json')).toMatchObject({ data: {} });
});

/** The values at and beside the limits of a field, by folder and kind. */
const valuesOf = (field: object, amount: unknown) =>
  Object.fromEntries(
    [...derive(field, { amount })]
      .filter(([path]) => /\/(?:too|short|long|few|most|small|large|fraction)/.test(path))
      .map(([path, body]) => [path.replace('-data-amount.json', ''), Object(body).data.amount]),
  );

test('derives bodies at the limits of a field and beside them', () => {
  expect(valuesOf({ type: 'string', minLength: 2, maxLength: 3 }, 'ab')).toEqual({
    'reject/too-short': '🏡',
    'accept/shortest': '🏡🏡',
    'accept/longest': '🏡🏡🏡',
    'reject/too-long': '🏡🏡🏡🏡',
  });
  expect(valuesOf({ type: 'string', pattern: '^ab*$', maxLength: 3 }, 'ab')).toEqual({ 'reject/too-long': 'abbb' });
  expect(valuesOf({ type: 'integer', minimum: 1, maximum: 9007199254740991 }, 4)).toEqual({
    'reject/too-small': 0,
    'accept/smallest': 1,
    'reject/fraction': 4.5,
  });
  expect(valuesOf({ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2)).toEqual({
    'reject/too-small': 1,
    'reject/too-large': 3,
  });
  const items = { items: { type: 'string' } };
  expect(valuesOf({ type: 'array', ...items, minItems: 1, maxItems: 3 }, ['a', 'b'])).toEqual({
    'reject/too-few': [],
    'accept/fewest': ['a'],
    'accept/most': ['a', 'b', 'a'],
    'reject/too-many': ['a', 'b', 'a', 'b'],
  });
});

/** The values that a field does not list, and the texts that its pattern does not match. */
const otherOf = (field: object, amount: unknown) =>
  [...derive(field, { amount })].flatMap(([path, body]) =>
    path.startsWith('reject/other-') || path.startsWith('reject/gid-of') ? [[path, Object(body).data?.amount]] : [],
  );

test('derives values that a field does not list, and texts that a pattern does not match', () => {
  expect(otherOf({ type: 'string', enum: ['OPEN'] }, 'OPEN')).toContainEqual([
    'reject/other-value-data-amount.json',
    'another value',
  ]);
  expect(otherOf({ type: 'number', enum: [10, 20] }, 10)).toContainEqual(['reject/other-value-data-amount.json', 21]);
  expect(otherOf({ type: 'boolean', const: true }, true)).toContainEqual([
    'reject/other-value-data-amount.json',
    false,
  ]);
  expect(otherOf({ type: 'string', pattern: '^[A-Z]+$' }, 'AB')).toContainEqual([
    'reject/other-pattern-data-amount.json',
    'AB!',
  ]);
  expect(otherOf({ type: 'string', format: 'uuid' }, 'aa')).toContainEqual([
    'reject/other-format-data-amount.json',
    'xa',
  ]);
  expect(() => derive({ type: 'string', pattern: '' }, { amount: 'a' })).toThrow(
    'data.amount: no text was found that  does not match.',
  );
});

test('derives the fixtures of the first item of an array of objects', () => {
  const line = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
  const fixtures = derive(
    { type: 'array', items: line, minItems: 2 },
    { amount: [{ sku: 'a' }, { sku: 'b' }, { sku: 'c' }] },
  );
  const amountOf = (path: string): unknown => Object(fixtures.get(path)).data.amount;
  expect(amountOf('reject/missing-data-amount-sku.json')).toEqual([{}, { sku: 'b' }]);
  expect(amountOf('reject/null-data-amount-sku.json')).toEqual([{ sku: null }, { sku: 'b' }]);
  expect(amountOf('reject/wrong-type-in-data-amount.json')).toEqual([[{ sku: 'a' }], { sku: 'b' }]);
  expect(amountOf('unknown-field/in-data-amount.json')).toEqual([{ sku: 'a', addedLater: 'x' }, { sku: 'b' }]);
});

test('names a field with alternatives, a field of another type, and a field without a typical value', () => {
  expect(() => derive({ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, { amount: 'x' })).toThrow(
    'data.amount: no fixture can be derived from alternatives.',
  );
  expect(() => derive({ type: 'null' }, { amount: null })).toThrow(
    'data.amount: no fixture can be derived from the type null.',
  );
  expect(() => derive({ type: 'array', items: { type: 'string' } }, { amount: [] })).toThrow(
    'data.amount.0: the sample of the event has no value.',
  );
  expect(() => derive({ type: ['string', 'null'] }, { amount: null })).toThrow(
    'data.amount: the sample of the event has no value.',
  );
});

test('names the schema that the rendered sample does not match, and each field', () => {
  const body = z.object({ data: z.object({ message: z.iso.date(), formerMessage: z.string().nullable() }) });
  const listed = { version: '2026-11-01', status: 'preview', deprecatedOn: null, sunsetOn: null } as const;
  const rendered = { ...typical, timestamp: '2026-11-03T09:30:00.123Z', data: { message: 'Hello' } };
  expect(() =>
    derivedFixturesOf(commonFolder, 'webhook.test', { ...listed, body, schema: {}, typical: rendered }),
  ).toThrow(
    `${commonFolder}/src/webhook.test/2026-11-01.ts does not match the sample of the event, as its renderer renders it. Change one of them:
  data.message: Invalid ISO date
  data.formerMessage: Invalid input: expected string, received undefined
`,
  );
});
