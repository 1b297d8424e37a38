import { expect, test } from 'vitest';
import { payloadFields, type PayloadSchema } from './payload-fields.ts';

const text = { type: 'string', description: 'A text.' };

test('lists nullable fields and the fields inside them', () => {
  const invoice = { type: 'object', properties: { reference: text }, required: ['reference'] };
  const properties = {
    note: { type: ['string', 'null'], description: 'A note, or null.' },
    invoice: { anyOf: [invoice, { type: 'null' }], description: 'The invoice, or null.' },
  };
  const always = { isOptional: false, isAddedLater: false };
  expect(payloadFields({ type: 'object', properties, required: ['note', 'invoice'] }, () => '', 'data')).toEqual([
    { path: 'data.note', type: 'string', isNullable: true, ...always, description: 'A note, or null.' },
    { path: 'data.invoice', type: 'object', isNullable: true, ...always, description: 'The invoice, or null.' },
    { path: 'data.invoice.reference', type: 'string', isNullable: false, ...always, description: 'A text.' },
  ]);
});

const ofAdded = (coordinate: string): string => (coordinate === '$.added' ? ' Added in 1.1.0.' : '');

test('lists a field that can be absent, and one that older bodies lack', () => {
  expect(payloadFields({ properties: { text, note: text, added: text }, required: ['text'] }, ofAdded)).toMatchObject([
    { path: 'text', isOptional: false, isAddedLater: false },
    { path: 'note', isOptional: true, isAddedLater: false },
    { path: 'added', isOptional: true, isAddedLater: true, description: 'A text. Added in 1.1.0.' },
  ]);
});

test('lists the fields of the items of an array', () => {
  const line = { type: 'object', properties: { sku: text }, required: ['sku'] };
  const properties = { lines: { type: 'array', items: line, description: 'The lines.' } };
  expect(payloadFields({ properties, required: ['lines'] }, () => '', 'data')).toMatchObject([
    { path: 'data.lines', type: 'array of object' },
    { path: 'data.lines[*].sku', type: 'string', description: 'A text.' },
  ]);
});

const integer = { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 };

test.each<[string, PayloadSchema]>([
  ['integer', integer],
  ['integer, at most 3', { ...integer, maximum: 3 }],
  ['integer, at least 1', { ...integer, minimum: 1 }],
  ['integer, 0 to 100', { ...integer, minimum: 0, maximum: 100 }],
  ['number, above 0 and below 1.5', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1.5 }],
  ['number, at least 0 and below 1.5', { type: 'number', minimum: 0, exclusiveMaximum: 1.5 }],
  ['boolean', { type: 'boolean' }],
  ['string, at least 1 character', { type: 'string', minLength: 1 }],
  ['string, at most 80 characters', { type: 'string', maxLength: 80 }],
  ['string, 1 to 80 characters', { type: 'string', minLength: 1, maxLength: 80 }],
  ['string, 3 characters', { type: 'string', minLength: 3, maxLength: 3 }],
  ['string, uuid', { type: 'string', format: 'uuid' }],
  ['string, matching `^[A-Z]+$`, at most 5 characters', { type: 'string', pattern: '^[A-Z]+$', maxLength: 5 }],
  [
    '`gid://<namespace>/Order/<number>`',
    { type: 'string', pattern: String.raw`^gid:\/\/[a-z][a-z0-9-]*\/Order\/[1-9][0-9]*$` },
  ],
  ['`"card"`', { type: 'string', const: 'card' }],
  ['`"OPEN"` or `"PAID"`', { type: 'string', enum: ['OPEN', 'PAID'] }],
  ['`10` or `20`', { type: 'number', enum: [10, 20] }],
  ['array of string', { type: 'array', items: text }],
  ['array of string, 1 to 3 items', { type: 'array', items: text, minItems: 1, maxItems: 3 }],
  ['array of string or null', { type: 'array', items: { type: ['string', 'null'] } }],
])('shows %s', (type, schema) => {
  expect(payloadFields({ properties: { field: schema }, required: ['field'] })[0]?.type).toBe(type);
});

test('names a field whose items have a keyword that payloads cannot have', () => {
  const pairs = { type: 'array', items: { type: 'array', prefixItems: [text, text] } };
  expect(() => payloadFields({ properties: { pairs }, required: ['pairs'] }, () => '', 'data')).toThrow(
    'data.pairs[*]: a payload cannot have the keyword prefixItems',
  );
});

test('names a field with alternatives', () => {
  const either = { anyOf: [text, { type: 'boolean' }] };
  expect(() => payloadFields({ properties: { either }, required: ['either'] }, () => '', 'data')).toThrow(
    'data.either: a payload cannot have the keyword anyOf',
  );
});
