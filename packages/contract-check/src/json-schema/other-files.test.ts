import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { readSourceText } from '../text-file.ts';
import { compareJsonSchemas } from './compare-json-schema.ts';

let folder: string;
beforeEach(() => {
  folder = folderForTest();
});

const write = (path: string, value: unknown) => writeIn(folder, path, JSON.stringify(value, null, 2));

function compare() {
  const [from, to] = ['old', 'new'].map((name) => readSourceText(join(folder, name, 'root.json')));
  if (from === undefined || to === undefined) throw new Error('unreachable');
  const { changes } = compareJsonSchemas(from, to, { direction: 'producer' });
  return changes.map(({ rule, coordinate, location, oldLocation }) => [
    rule,
    coordinate,
    location.file.replace(folder, ''),
    location.line,
    oldLocation?.file.replace(folder, ''),
  ]);
}

const root = { properties: { entry: { $ref: 'parts/entry.json' } } };
const entry = (type: unknown) => ({
  type: 'object',
  properties: { amount: { $ref: 'shared/number.json#/$defs/amount' }, parent: { $ref: '../root.json' } },
  $defs: { unused: { type } },
});

test('follows references to other files, relative to the file that contains them', () => {
  for (const [side, type] of [
    ['old', 'integer'],
    ['new', 'number'],
  ] as const) {
    write(`${side}/root.json`, root);
    write(`${side}/parts/entry.json`, entry(type));
    write(`${side}/parts/shared/number.json`, { $defs: { amount: { type } } });
  }
  expect(compare()).toEqual([
    ['json-schema/typeAdded', '$.entry.amount', '/new/parts/shared/number.json', 3, '/old/parts/shared/number.json'],
  ]);
});

const address = (name: string): string => `https://example.com/schemas/${name}`;

test('resolves an address next to the address of the root', () => {
  write('old/root.json', { $id: address('root.json'), properties: { a: { $ref: address('a.json') } } });
  write('old/a.json', { type: 'integer' });
  write('new/root.json', { $id: address('root.json'), properties: { a: { $ref: 'a.json' } } });
  write('new/a.json', { type: 'string' });
  expect(compare().map(([rule, coordinate]) => [rule, coordinate])).toEqual([
    ['json-schema/typeAdded', '$.a'],
    ['json-schema/typeRemoved', '$.a'],
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ['the file', { 'money.json': { $id: 'money.json', type: 'string' } }],
  ['a schema in it', { 'money.json': { type: 'string', $defs: { m: { $id: 'money.json', type: 'string' } } } }],
  ['the file, in draft 4', { 'money.json': { id: 'money.json', type: 'string' } }],
  ['the first file', { 'money.json': true, 'root.json': { $id: 'money.json' } }],
  ['a file with a URN', { 'money.json': { $id: 'urn:m', $defs: { m: { $id: 'money.json' } } } }],
])('an identifier that is no absolute address, of %s, names nothing in the files of other folders', (_, files) => {
  for (const [side, type] of [
    ['old', 'integer'],
    ['new', 'number'],
  ] as const) {
    const refers = { properties: { a: { $ref: 'other/money.json' }, b: { $ref: 'x/line.json' } } };
    write(`${side}/root.json`, { ...refers, ...Object(files['root.json']) });
    write(`${side}/other/money.json`, files['money.json'] === true ? {} : files['money.json']);
    write(`${side}/x/line.json`, { properties: { m: { $ref: 'money.json' } } });
    write(`${side}/x/money.json`, { type });
  }
  expect(compare().map(([rule, coordinate]) => [rule, coordinate])).toEqual([['json-schema/typeAdded', '$.b.m']]);
});

test('a copy in one file equals the same schema in several files', () => {
  write('old/root.json', root);
  write('old/parts/entry.json', { properties: { amount: { type: 'integer' } } });
  write('new/root.json', { properties: { entry: { properties: { amount: { type: 'integer' } } } } });
  expect(compare()).toEqual([]);
});

test.each([
  ['missing', undefined, 'old/root.json:3: /properties/entry refers to "parts/entry.json": '],
  ['not an object', true, 'entry.json:1: the schema must be an object'],
  ['invalid', { properties: { a: { type: 'text' } } }, 'entry.json:4: /properties/a/type must be a type name'],
  [
    'without the definition',
    { $ref: '#/$defs/lost' },
    'entry.json:1: the schema refers to "#/$defs/lost", which does not exist',
  ],
])('names the file and the line if another file is %s', (_, value, message) => {
  write('old/root.json', root);
  write('new/root.json', root);
  if (value !== undefined) write('old/parts/entry.json', value);
  expect(compare).toThrow(message);
});

const drafts = {
  7: 'http://json-schema.org/draft-07/schema#',
  2019: 'https://json-schema.org/draft/2019-09/schema',
  2020: 'https://json-schema.org/draft/2020-12/schema',
};
const tuple = { type: 'array', prefixItems: [{ type: 'string' }] };
const besideRef = { $ref: '#/definitions/x', maxLength: 3, definitions: { x: { type: 'string' } } };

test.each<[string, Record<string, unknown>, unknown, unknown, string[]]>([
  ['prefixItems', tuple, drafts[7], drafts[2020], ['json-schema/identityChanged $.a']],
  ['keywords beside $ref', besideRef, drafts[7], drafts[2020], ['json-schema/identityChanged $.a']],
  ['what both drafts define', { type: 'string' }, drafts[2019], drafts[2020], ['json-schema/dialectChanged $.a']],
  ['null', { type: 'null' }, drafts[2019], drafts[2020], ['json-schema/dialectChanged $.a']],
  ['an unnamed draft', { type: 'string' }, drafts[2020], undefined, []],
  ['a draft that stays', tuple, drafts[7], drafts[7], []],
])('compares the draft of another file and of an embedded schema: %s', (_, value, before, now, changes) => {
  for (const [side, $schema] of [
    ['old', before],
    ['new', now],
  ] as const) {
    write(`${side}/root.json`, { $schema: drafts[2020], properties: { a: { $ref: 'part.json' } } });
    write(`${side}/part.json`, { $schema, ...value });
  }
  expect(compare().map(([rule, coordinate]) => `${String(rule)} ${String(coordinate)}`)).toEqual(changes);
  for (const [side, $schema] of [
    ['old', before],
    ['new', now],
  ] as const) {
    write(`${side}/root.json`, {
      $schema: drafts[2020],
      properties: { a: { $ref: 'https://example.com/part.json' } },
      $defs: { part: { $id: 'https://example.com/part.json', $schema, ...value } },
    });
  }
  expect(compare().map(([rule, coordinate]) => `${String(rule)} ${String(coordinate)}`)).toEqual(changes);
});

test('looks at the other files if the draft of all changes', () => {
  for (const [side, $schema] of [
    ['old', drafts[7]],
    ['new', drafts[2020]],
  ] as const) {
    write(`${side}/root.json`, { $schema, properties: { a: { $ref: 'part.json' } } });
    write(`${side}/part.json`, side === 'old' ? tuple : { $schema, ...tuple });
  }
  expect(compare().map(([rule, coordinate]) => [rule, coordinate])).toEqual([['json-schema/identityChanged', '$']]);
});
