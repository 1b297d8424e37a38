import { describe, expect, test, vi } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { compareJsonSchemas } from './compare-json-schema.ts';

// A generous bound: the machine may be doing something else.
vi.setConfig({ testTimeout: 120_000 });

const read = (text: string) =>
  compareJsonSchemas({ file: 'a.json', text: '{}' }, { file: 'b.json', text }, { direction: 'both' });
const asText = (value: JsonValue) => ({ file: 'a', text: JSON.stringify(value) });
const same = (schema: JsonValue) => {
  const text = JSON.stringify(schema);
  return compareJsonSchemas({ file: 'a.json', text }, { file: 'b.json', text }, { direction: 'both' }).changes;
};

describe('what is not a schema', () => {
  test.each([
    ['', 'b.json:1: is empty'],
    ['{', 'b.json:1: a string is expected, not the end of the file'],
    ['{\n"type": "string",\n"type": "object"}', 'b.json:3: the name "type" stands twice in one object'],
    ['[]', 'b.json:1: the schema is not a schema'],
    ['{\n"type": "text"}', 'b.json:2: /type is not a type name or a list of them'],
    ['{"properties": {\n"a": 1}}', 'b.json:2: /properties/a is not a schema'],
    ['{"properties": []}', 'b.json:1: /properties is not an object of schemas'],
    ['{"required": "a"}', 'b.json:1: /required is not a list of names'],
    ['{"maxLength": -1}', 'b.json:1: /maxLength is not a whole number from 0'],
    ['{"anyOf": {}}', 'b.json:1: /anyOf is not a list of schemas'],
    ['{"properties": {\n"a": {"$ref": "#/$defs/A"}}}', 'b.json:2: /properties/a refers to "#/$defs/A", where there is nothing'],
    ['{"$ref": "#nowhere"}', 'refers to "#nowhere", where there is nothing'],
    ['{"$ref": "https://example.com/a.json"}', 'refers to "https://example.com/a.json", which is not in this file: bundle it'],
    ['{"$ref": "./other.json#/a"}', 'refers to "./other.json#/a", which is not in this file'],
    ['{"$ref": "#/type", "type": "object"}', '/type is not a schema'],
    [`${'{"not":'.repeat(600)}{}${'}'.repeat(600)}`, 'b.json:1: is nested deeper than 500 levels'],
    [
      JSON.stringify({ allOf: Array.from({ length: 12 }, (_, i) => ({ anyOf: [{ minLength: i }, { maxLength: i }, { pattern: `${i}` }] })) }),
      'b.json: combines anyOf and oneOf in more than 2000 ways at one place',
    ],
  ])('%#', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe('circles', () => {
  test.each<[string, JsonValue]>([
    ['a schema that is only itself', { $ref: '#' }],
    ['a choice that leads back to itself', { anyOf: [{ $ref: '#' }, { type: 'string' }] }],
    ['two that lead to each other', { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } }],
    ['through a property', { properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['through not', { not: { properties: { a: { $ref: '#' } } } }],
    ['through if', JSON.parse('{ "if": { "properties": { "a": { "$ref": "#" } } }, "then": { "$ref": "#" } }')],
    ['through contains', { contains: { $ref: '#' } }],
    ['crossing conjunctions', { allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#/$defs/x' } } }], $defs: { x: { properties: { a: { $ref: '#' } } } } }],
    ['a recursive anchor', { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } }],
  ])('%s', (_, schema) => {
    expect(same(schema)).toEqual([]);
  });

  test('a choice that leads back to itself is its other branches', () => {
    const from = { file: 'a', text: '{"anyOf":[{"$ref":"#"},{"type":"string"}]}' };
    expect(compareJsonSchemas(from, { file: 'b', text: '{"type":"string"}' }, { direction: 'both' }).verdict).toBe('none');
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
])('embedded schemas with addresses of their own: %s, %s', (name, type, verdict) => {
  const [from, to] = [asText(embedded('a', 'string')), asText(embedded(name, type))];
  expect(compareJsonSchemas(from, to, { direction: 'both' }).verdict).toBe(verdict);
});

const besideRef = ($schema: string, maxLength: number) =>
  asText({
    $schema,
    properties: { a: { $ref: '#/definitions/s', maxLength } },
    definitions: { s: { type: 'string' } },
  });

test.each([
  ['http://json-schema.org/draft-07/schema#', 'none'],
  ['https://json-schema.org/draft/2019-09/schema', 'major'],
])('what stands beside a $ref counts from draft 2019-09 on: %s', (draft, verdict) => {
  const report = compareJsonSchemas(besideRef(draft, 9), besideRef(draft, 5), { direction: 'consumer' });
  expect(report.verdict).toBe(verdict);
});

test('names of the prototype are names', () => {
  const from = '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"a":{"type":"string"}}}';
  const { changes } = compareJsonSchemas({ file: 'a', text: from }, asText({ properties: { a: { type: 'string' } } }), {
    direction: 'producer',
  });
  expect(changes.map(({ coordinate }) => coordinate)).toEqual(['$.__proto__', '$.constructor']);
});

test('10,000 definitions', () => {
  const definitions = Array.from({ length: 10_000 }, (_, i) => [
    `T${i}`,
    { type: 'object', properties: { id: { type: 'string' }, next: { $ref: `#/$defs/T${(i + 1) % 10_000}` } }, required: ['id'] },
  ]);
  const from = JSON.stringify({ $ref: '#/$defs/T0', $defs: Object.fromEntries(definitions) });
  const started = performance.now();
  const to = from.replaceAll('"string"', '["string","null"]');
  const report = compareJsonSchemas({ file: 'a', text: from }, { file: 'b', text: to }, { direction: 'producer' });
  expect(report.changes).toHaveLength(10_000);
  // Measured 1 s; the bound only tells linear from quadratic.
  expect(performance.now() - started).toBeLessThan(60_000);
});
