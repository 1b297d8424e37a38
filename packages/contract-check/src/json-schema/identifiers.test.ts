import { describe, expect, test } from 'vitest';
import { compareJsonSchemas } from './compare-json-schema.ts';

type Json = Record<string, unknown>;

const draft4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const draft2019 = { $schema: 'https://json-schema.org/draft/2019-09/schema' };
const draft2020 = { $schema: 'https://json-schema.org/draft/2020-12/schema' };

/** The rules of the changes, and the notices, when `string` becomes `integer` in a schema. */
function changesIn(schema: Json) {
  const [from, to] = ['string', 'integer'].map((type) => JSON.stringify(schema).replaceAll('"string"', `"${type}"`));
  const sources = { from: { file: 'old.json', text: from ?? '' }, to: { file: 'new.json', text: to ?? '' } };
  const { changes, notices } = compareJsonSchemas(sources.from, sources.to, { direction: 'producer' });
  return [...changes.map(({ rule, coordinate }) => `${rule} ${coordinate}`), ...notices.map(({ message }) => message)];
}

const changed = ['json-schema/typeAdded $.v', 'json-schema/typeRemoved $.v'];
const refersTo = (reference: string): Json => ({ properties: { v: { $ref: reference } } });

describe('resolves a reference to an identifier in the same file', () => {
  test.each<[string, Json]>([
    [
      'in draft 4, in the folder of the root',
      {
        ...draft4,
        id: 'http://x.example/a.json',
        ...refersTo('http://x.example/v.json'),
        definitions: { v: { id: 'http://x.example/v.json', type: 'string' } },
      },
    ],
    [
      'in draft 4, elsewhere',
      {
        ...draft4,
        id: 'http://x.example/a.json',
        ...refersTo('http://y.example/v.json#'),
        definitions: { v: { id: 'http://y.example/v.json#', type: 'string' } },
      },
    ],
    [
      'in draft 4, as a URN',
      { ...draft4, ...refersTo('urn:example:v'), definitions: { v: { id: 'urn:example:v', type: 'string' } } },
    ],
    [
      'in draft 4, without an address of the root',
      { ...draft4, ...refersTo('v.json'), definitions: { v: { id: 'v.json', type: 'string' } } },
    ],
    [
      'in draft 4, relative to an identifier around it',
      {
        ...draft4,
        id: 'http://x.example/a.json',
        ...refersTo('parts/v.json#/definitions/w'),
        definitions: {
          p: { id: 'parts/', definitions: { v: { id: 'v.json', definitions: { w: { type: 'string' } } } } },
        },
      },
    ],
    ['in draft 4, as an anchor', { ...draft4, ...refersTo('#v'), definitions: { v: { id: '#v', type: 'string' } } }],
    [
      'in draft 4, as an anchor with the address of the root',
      {
        ...draft4,
        id: 'http://x.example/a.json',
        ...refersTo('#v'),
        definitions: { v: { id: 'http://x.example/a.json#v', type: 'string' } },
      },
    ],
    ['without a draft', { ...refersTo('urn:example:v'), definitions: { v: { id: 'urn:example:v', type: 'string' } } }],
    [
      'in draft 4, in a bundle of draft 7',
      {
        ...draft7,
        ...refersTo('http://x.example/v.json'),
        definitions: {
          b: { ...draft4, id: 'http://x.example/', definitions: { v: { id: 'v.json', type: 'string' } } },
        },
      },
    ],
    [
      'in draft 7',
      { ...draft7, ...refersTo('urn:example:v'), definitions: { v: { $id: 'urn:example:v', type: 'string' } } },
    ],
    [
      'in draft 7, as an anchor with the address of the root',
      {
        ...draft7,
        $id: 'http://x.example/a.json',
        ...refersTo('a.json#v'),
        definitions: { v: { $id: 'http://x.example/a.json#v', type: 'string' } },
      },
    ],
    [
      'in draft 2019-09, as an anchor',
      { ...draft2019, ...refersTo('u#v'), $defs: { u: { $id: 'u', $defs: { v: { $anchor: 'v', type: 'string' } } } } },
    ],
    [
      'in draft 2020-12, as a dynamic anchor',
      {
        ...draft2020,
        properties: { v: { $dynamicRef: 'u#v' } },
        $defs: { u: { $id: 'u', $defs: { v: { $dynamicAnchor: 'v', type: 'string' } } } },
      },
    ],
  ])('%s', (_, schema) => {
    expect(changesIn(schema)).toEqual(changed);
  });

  test('in draft 2019-09, through $recursiveRef', () => {
    const node = { $id: 'node', $recursiveAnchor: true, type: 'object', properties: { next: { $recursiveRef: '#' } } };
    const schema = {
      ...draft2019,
      ...refersTo('node'),
      $defs: { node: { ...node, maxProperties: 1, items: { type: 'string' } } },
    };
    expect(changesIn(schema)).toEqual([]);
    expect(changesIn({ ...schema, $defs: { node: { ...node, additionalProperties: { type: 'string' } } } })).toEqual([
      'json-schema/typeAdded $.v.*',
      'json-schema/typeRemoved $.v.*',
    ]);
  });
});

describe('takes what is no identifier for none', () => {
  const inner = { $ref: '#/definitions/t' };
  const schema = (draft: Json, v: Json): Json => ({
    ...draft,
    ...refersTo('#/definitions/v'),
    definitions: { v: { allOf: [inner], ...v }, t: { type: 'string' } },
  });

  test.each<[string, Json, Json]>([
    ['id in draft 7', draft7, { id: 'http://x.example/v.json' }],
    ['a name in id without a draft', {}, { id: 'v' }],
    ['id beside $ref', draft4, { id: 'http://x.example/v.json', ...inner }],
    ['an id that is no text', draft4, { id: 1 }],
    ['a property with the name id', draft4, { properties: { id: { title: 'http://x.example/v.json' } } }],
    ['an id in a value', draft4, { enum: [{ id: 'http://x.example/v.json' }, 'a', 1], default: { id: 'urn:x' } }],
  ])('%s', (_, draft, v) => {
    expect(changesIn(schema(draft, v))).toEqual(changed);
  });
});

test.each([
  ['an error', 'v.json', 'old.json:1: /properties/v refers to "v.json", which is not in this file'],
  ['an error', '#v', 'old.json:1: /properties/v refers to "#v", which does not exist'],
])('an identifier that does not exist is %s: %s', (_, reference, message) => {
  expect(() => changesIn({ ...draft4, ...refersTo(reference) })).toThrow(message);
});

test('an address outside of the file is a notice', () => {
  expect(changesIn({ ...draft4, ...refersTo('http://x.example/v.json') })).toEqual([
    '/properties/v refers to "http://x.example/v.json", which is not in the files. Only a change of the reference itself is compared.',
  ]);
});
