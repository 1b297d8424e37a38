import { describe, expect, test } from 'vitest';
import { chainOfDefinitions } from '../../test/support/chains.ts';
import { compareJsonSchemas } from './compare-json-schema.ts';

const read = (text: string) =>
  compareJsonSchemas({ file: 'a.json', text: '{}' }, { file: 'b.json', text }, { direction: 'both' });
const asText = (value: unknown) => ({ file: 'a', text: JSON.stringify(value) });
const same = (schema: unknown) => {
  const text = JSON.stringify(schema);
  return compareJsonSchemas({ file: 'a.json', text }, { file: 'b.json', text }, { direction: 'both' }).changes;
};

describe('an invalid schema', () => {
  test.each([
    ['', 'b.json:1: the file is empty'],
    ['{', "b.json:1: is not JSON: Expected property name or '}'"],
    ['{\n"type": "string",\n"type": "object"}', 'b.json:3: duplicate name "type" in one object'],
    ['[]', 'b.json:1: the schema must be an object, true or false'],
    ['{\n"type": "text"}', 'b.json:2: /type must be a type name or a list of type names'],
    ['{"properties": {\n"a": 1}}', 'b.json:2: /properties/a must be a schema'],
    ['{"properties": []}', 'b.json:1: /properties must be an object of schemas'],
    ['{"required": "a"}', 'b.json:1: /required must be a list of names'],
    ['{"maxLength": -1}', 'b.json:1: /maxLength must be a non-negative integer'],
    ['{"anyOf": {}}', 'b.json:1: /anyOf must be a list of schemas'],
    [
      '{"properties": {\n"a": {"$ref": "#/$defs/A"}}}',
      'b.json:2: /properties/a refers to "#/$defs/A", which does not exist',
    ],
    ['{"$ref": "#nowhere"}', 'refers to "#nowhere", which does not exist'],
    ['{"openapi": "3.1.0", "paths": {}}', 'b.json:1: is an OpenAPI document, not a JSON Schema. Compare the schemas'],
    ['{"swagger": "2.0", "definitions": {}}', 'b.json:1: is a Swagger document'],
    ['{"asyncapi": "3.0.0", "components": {}}', 'b.json:1: is an AsyncAPI document'],
    ['{"data": {"__schema": {}}}', 'b.json:1: is the result of a GraphQL introspection query, not a JSON Schema'],
    ['{"__schema": {}}', 'b.json:1: is the result of a GraphQL introspection query, not a JSON Schema'],
    ['{"name": "x", "description": "A package."}', 'b.json:1: is no JSON Schema: it has no keyword such as type'],
    ['{"$schema": "https://json.schemastore.org/package.json", "name": "x"}', 'b.json:1: is no JSON Schema'],
    ['{"id": 1, "label": "n"}', 'b.json:1: is no JSON Schema'],
    ['{"components": {"schemas": {}}}', 'b.json:1: is no JSON Schema'],
    ['{"$ref": "./other.json#/a"}', 'refers to "./other.json#/a", which is not in this file'],
    ['{"$ref": "#/type", "type": "object"}', '/type must be a schema'],
    [
      JSON.stringify({
        properties: { a: { $ref: 'words' } },
        $defs: {
          list: { $id: 'list', items: { $dynamicRef: '#T' }, $defs: { T: { $dynamicAnchor: 'T' } } },
          words: { $id: 'words', $ref: 'list', $defs: { T: { $dynamicAnchor: 'T', type: 'string' } } },
        },
      }),
      'b.json:1: /$defs/list/items refers to "#T" with $dynamicRef. Several schemas have this anchor, so the target depends on the path of the validator. Declare the anchor in the root as well, or use $ref.',
    ],
    [
      JSON.stringify({
        properties: { a: { $ref: 'strict' } },
        $defs: {
          tree: { $id: 'tree', $recursiveAnchor: true, items: { $recursiveRef: '#' } },
          strict: { $id: 'strict', $recursiveAnchor: true, $ref: 'tree' },
        },
      }),
      '/$defs/tree/items refers to "#" with $recursiveRef. Several schemas have this anchor',
    ],
    [`${'{"not":'.repeat(600)}{}${'}'.repeat(600)}`, 'b.json:1: is nested deeper than 500 levels'],
    [
      JSON.stringify({
        allOf: Array.from({ length: 12 }, (_, i) => ({
          anyOf: [{ minLength: i }, { maxLength: i }, { pattern: `${i}` }],
        })),
      }),
      'b.json: the schemas at $ combine in too many ways to be compared (more than 2000000 steps). Nest and repeat fewer',
    ],
  ])('is reported with its line, case %#', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe('circular references', () => {
  test.each<[string, unknown]>([
    ['a schema that refers only to itself', { $ref: '#' }],
    ['a choice that refers back to itself', { anyOf: [{ $ref: '#' }, { type: 'string' }] }],
    [
      'two definitions that refer to each other',
      {
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
      },
    ],
    ['through a property', { properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['through not', { not: { properties: { a: { $ref: '#' } } } }],
    ['through if', JSON.parse('{ "if": { "properties": { "a": { "$ref": "#" } } }, "then": { "$ref": "#" } }')],
    ['through contains', { contains: { $ref: '#' } }],
    [
      'in overlapping conjunctions',
      {
        allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#/$defs/x' } } }],
        $defs: { x: { properties: { a: { $ref: '#' } } } },
      },
    ],
    ['a recursive anchor', { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } }],
  ])('terminate: %s', (_, schema) => {
    expect(same(schema)).toEqual([]);
  });

  test('a branch that refers back to its own choice allows no further values', () => {
    const from = { file: 'a', text: '{"anyOf":[{"$ref":"#"},{"type":"string"}]}' };
    expect(compareJsonSchemas(from, { file: 'b', text: '{"type":"string"}' }, { direction: 'both' }).verdict).toBe(
      'none',
    );
  });
});

const embedded = (name: string, type: string) => ({
  $id: 'https://example.com/root.json',
  $ref: 'part.json#/$defs/x',
  $defs: { [name]: { $id: 'part.json', $defs: { x: { type } } } },
});

test.each([
  ['b', 'string', 'none'],
  ['a', 'object', 'major'],
])('resolves references relative to embedded schemas: %s, %s, %s', (name, type, verdict) => {
  const [from, to] = [asText(embedded('a', 'string')), asText(embedded(name, type))];
  expect(compareJsonSchemas(from, to, { direction: 'both' }).verdict).toBe(verdict);
});

const nextToRef = ($schema: string, maxLength: number) =>
  asText({
    $schema,
    properties: { a: { $ref: '#/definitions/s', maxLength } },
    definitions: { s: { type: 'string' } },
  });

test.each(['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2019-09/schema'])(
  'compares keywords next to a $ref: %s',
  (draft) => {
    const report = compareJsonSchemas(nextToRef(draft, 9), nextToRef(draft, 5), { direction: 'consumer' });
    expect(report.verdict).toBe('major');
  },
);

const noticesOf = (from: unknown, to: unknown) =>
  compareJsonSchemas(
    { file: 'a', text: JSON.stringify(from) },
    { file: 'b', text: JSON.stringify(to, null, 1) },
    {
      direction: 'both',
    },
  ).notices.map(({ location, message }) => `${location.file}:${location.line} ${message}`);

describe('states what was not compared', () => {
  test('an unknown keyword that changes', () => {
    expect(noticesOf({ type: 'string', 'x-a': 1 }, { type: 'string', 'x-a': 1 })).toEqual([]);
    expect(noticesOf({ items: {} }, { items: { title: 'a', examples: [], $comment: 'c', requred: ['a'] } })).toEqual([
      'b:2 The keyword requred is unknown, so its effect on values was not compared.',
    ]);
  });

  test('what an address contains', () => {
    const schema = { properties: { a: { $ref: 'https://example.com/a.json' } } };
    expect(noticesOf(schema, schema)).toEqual([
      'b:3 /properties/a refers to "https://example.com/a.json", which is not in the files. Only a change of the reference itself is compared.',
    ]);
  });

  test('a definition that the root does not reach', () => {
    const root = { type: 'object', properties: { a: { $ref: '#/$defs/a' } } };
    const schema = (type: string) => ({
      ...root,
      $defs: { a: { type: 'string' }, b: { type }, c: {}, d: { title: type } },
    });
    expect(noticesOf(schema('string'), schema('string'))).toEqual([]);
    expect(noticesOf(schema('string'), schema('number'))).toEqual([
      'b:null The root of the schema does not reach #/$defs/b, so changes there were not compared.',
    ]);
    expect(noticesOf(schema('string'), { ...root, $defs: { a: { type: 'string' }, d: {} } })[0]).toContain(
      'does not reach #/$defs/b, #/$defs/c,',
    );
  });
});

const many = (minLength: number) => ({
  allOf: Array.from({ length: 12 }, (_, i) => ({ anyOf: [{ minLength }, { maxLength: i }, { pattern: `${i}` }] })),
});

const withMany = (type: string, minLength = 1) => asText({ properties: { a: many(minLength), b: { type } } });

test('compares the rest of a schema if schemas that combine in too many ways are unchanged', () => {
  const compare = (to: { file: string; text: string }) =>
    compareJsonSchemas(withMany('string'), to, { direction: 'both' }).changes.map(({ rule, coordinate }) => [
      rule,
      coordinate,
    ]);
  expect(compare(withMany('string'))).toEqual([]);
  expect(compare(withMany('number'))).toEqual([
    ['json-schema/typeAdded', '$.b'],
    ['json-schema/typeRemoved', '$.b'],
  ]);
  expect(() => compare(withMany('string', 2))).toThrow('a: the schemas at $.a combine in too many ways');
  expect(() => compare(asText({ items: many(1) }))).toThrow('a: the schemas at $[*] combine in too many ways');
});

const longText = (end: string) =>
  asText({ description: `${'The same words. '.repeat(9)}${end}${' and more'.repeat(9)}` });

test('shows the first difference of long texts', () => {
  const { changes } = compareJsonSchemas(longText('One'), longText('Two'), { direction: 'both' });
  expect(changes[0]?.message).toMatch(/^description changed from …[^…]+One[^…]+… to …[^…]+Two[^…]+…\.$/);
});

test('names the type of which any value is valid', () => {
  const { changes } = compareJsonSchemas(asText({ enum: ['a'] }), asText({ type: 'string' }), { direction: 'both' });
  expect(changes[0]?.message).toBe('Any value of type string is now valid. Before, only these were: "a".');
});

test.each(['%', 'part%.json', '%E0%A4%A#/$defs/x'])('rejects a $ref with malformed percent-encoding: %j', ($ref) => {
  const source = asText({ $ref });
  expect(() => compareJsonSchemas(source, source, { direction: 'both' })).toThrow(
    expect.objectContaining({
      name: 'InputError',
      message: expect.stringContaining(`refers to ${JSON.stringify($ref)}`),
    }),
  );
});

test('treats names of Object.prototype as ordinary names', () => {
  const from = '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"a":{"type":"string"}}}';
  const { changes } = compareJsonSchemas({ file: 'a', text: from }, asText({ properties: { a: { type: 'string' } } }), {
    direction: 'producer',
  });
  expect(changes.map(({ coordinate }) => coordinate)).toEqual(['$.__proto__', '$.constructor']);
});

test('compares a chain of 2,000 definitions', () => {
  const { from, to } = chainOfDefinitions(2_000);
  const report = compareJsonSchemas({ file: 'a', text: from }, { file: 'b', text: to }, { direction: 'producer' });
  expect(report.changes).toHaveLength(2_000);
});
