import { expect, test } from 'vitest';
import { payloadFields } from './payload-fields.ts';

const text = { type: 'string', description: 'A text.' };

test('lists nullable fields and the fields inside them', () => {
  const matter = { type: 'object', properties: { reference: text }, required: ['reference'] };
  const properties = {
    note: { type: ['string', 'null'], description: 'A note, or null.' },
    matter: { anyOf: [matter, { type: 'null' }], description: 'The matter, or null.' },
  };
  expect(payloadFields({ type: 'object', properties, required: ['note', 'matter'] }, () => '', 'data')).toEqual([
    { path: 'data.note', type: 'string', isNullable: true, isOptional: false, description: 'A note, or null.' },
    { path: 'data.matter', type: 'object', isNullable: true, isOptional: false, description: 'The matter, or null.' },
    { path: 'data.matter.reference', type: 'string', isNullable: false, isOptional: false, description: 'A text.' },
  ]);
});

test('lists a field that older bodies lack', () => {
  expect(payloadFields({ properties: { text, note: text }, required: ['text'] })).toMatchObject([
    { path: 'text', isOptional: false },
    { path: 'note', isOptional: true },
  ]);
});

test('lists arrays, and integers without the limits of JavaScript', () => {
  const count = { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, description: 'How many.' };
  const names = { type: 'array', items: text, description: 'The names.' };
  expect(payloadFields({ properties: { count, names }, required: ['count', 'names'] }, () => '', 'data')).toEqual([
    { path: 'data.count', type: 'integer', isNullable: false, isOptional: false, description: 'How many.' },
    { path: 'data.names', type: 'array of string', isNullable: false, isOptional: false, description: 'The names.' },
  ]);
  const limited = { ...count, maximum: 3 };
  expect(() => payloadFields({ properties: { limited }, required: ['limited'] }, () => '', 'data')).toThrow(
    'data.limited: the reference does not show the keyword maximum',
  );
});

test('names a field whose items have a keyword that AsyncAPI does not have', () => {
  const pairs = { type: 'array', items: { type: 'array', prefixItems: [text, text] } };
  expect(() => payloadFields({ properties: { pairs }, required: ['pairs'] }, () => '', 'data')).toThrow(
    'data.pairs: the reference does not show the keyword prefixItems',
  );
});

test('names a field with alternatives', () => {
  const either = { anyOf: [text, { type: 'boolean' }] };
  expect(() => payloadFields({ properties: { either }, required: ['either'] }, () => '', 'data')).toThrow(
    'data.either: the reference does not show the keyword anyOf',
  );
});
