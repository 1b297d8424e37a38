import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Report } from '../change.ts';
import { InputError } from '../input-error.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';
import { compareJsonSchemas } from './compare-json-schema.ts';
import { directions, type Direction } from './direction.ts';

function compareTexts(from: string, to: string, direction: Direction): Report {
  return compareJsonSchemas({ file: 'from', text: from }, { file: 'to', text: to }, { direction });
}

function compare(from: fc.JsonValue, to: fc.JsonValue, direction: Direction): Report {
  return compareTexts(JSON.stringify(from), JSON.stringify(to), direction);
}

const definitionNames = ['A', 'B', 'C'] as const;

/** Schemas with references into `$defs`, including circular ones. */
const { schema } = fc.letrec<{ schema: fc.JsonValue }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<fc.JsonValue>(
      true,
      {},
      { type: 'string' },
      { type: 'integer' },
      { type: ['string', 'null'] },
      { type: 'boolean' },
    ),
    fc.record({ type: fc.constant('string') }, { requiredKeys: ['type'] }),
    fc.record(
      { type: fc.constant('string'), maxLength: fc.nat(3), minLength: fc.nat(2), pattern: fc.constantFrom('^a', 'b$') },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constantFrom('number', 'integer'),
        maximum: fc.nat(3),
        exclusiveMinimum: fc.nat(2),
        multipleOf: fc.constantFrom(1, 2),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom('a', 'b', 1, null), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.constantFrom('a', 1, null) }),
    fc.constantFrom(...definitionNames).map((name) => ({ $ref: `#/$defs/${name}` })),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.record(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        maxItems: fc.nat(2),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie('schema') }),
  ),
}));

/** Wraps references in a property, because a definition that is a bare reference could refer to itself. */
const definition = schema.map((each): fc.JsonValue =>
  JSON.stringify(each).includes('$ref') ? { type: 'object', properties: { a: each } } : each,
);

/** A root and three definitions. */
type Parts = readonly [root: fc.JsonValue, ...definitions: fc.JsonValue[]];

const parts = fc.tuple(schema, definition, definition, definition);

function documentOf([root, ...definitions]: Parts): Record<string, fc.JsonValue> {
  return { allOf: [root], $defs: Object.fromEntries(definitions.map((each, i) => [definitionNames[i], each])) };
}

const document = parts.map(documentOf);

/** Two documents that share parts, like an old and a new version. */
const change = fc
  .tuple(parts, parts, fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()))
  .map(([from, other, kept]): [Record<string, fc.JsonValue>, Record<string, fc.JsonValue>] => {
    const [root, ...definitions] = from.map((part, i) => (kept[i] === true ? part : (other[i] ?? true)));
    return [documentOf(from), documentOf([root ?? true, ...definitions])];
  });

function renamed(each: Record<string, fc.JsonValue>): Record<string, fc.JsonValue> {
  return JSON.parse(
    JSON.stringify(each)
      .replaceAll(/#\/\$defs\/(\w)/g, '#/$defs/renamed$1')
      .replaceAll(/"([ABC])":/g, '"renamed$1":'),
  );
}

describe('JSON Schema', () => {
  test('returns none for a schema and itself', () => {
    fc.assert(
      fc.property(document, fc.constantFrom(...directions), (each, direction) => {
        expect(compare(each, each, direction)).toEqual({ verdict: 'none', changes: [], notices: [] });
      }),
      { numRuns: Number(process.env['RUNS'] ?? 80) },
    );
  });

  test('returns the same report when definitions are renamed', () => {
    fc.assert(
      fc.property(change, fc.constantFrom(...directions), ([from, to], direction) => {
        expect(compare(from, renamed(from), direction).changes).toEqual([]);
        // Notices name the definitions.
        const { verdict, changes } = compare(from, to, direction);
        expect(compare(renamed(from), to, direction)).toMatchObject({ verdict, changes });
        expect(compare(from, renamed(to), direction)).toMatchObject({ verdict, changes });
      }),
      { numRuns: Number(process.env['RUNS'] ?? 60) },
    );
  });

  test('returns the larger verdict of the two directions for both', () => {
    fc.assert(
      fc.property(change, ([from, to]) => {
        const [producer, consumer, both] = directions.map((direction) => compare(from, to, direction).verdict);
        expect([producer, consumer]).toContain(both);
        expect([producer, consumer].every((each) => compareVerdicts(each ?? 'none', both ?? 'none') <= 0)).toBe(true);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 40) },
    );
  });

  test('never returns a smaller verdict for a combined change than for its parts', () => {
    const ofRoot = ['$id', 'id', '$schema', '$defs', 'definitions'];
    const cases = readCases().filter(
      ({ from, to }) =>
        !/"\$ref"/.test(JSON.stringify([from, to])) && ![from, to].some((root) => hasMember(root, ofRoot)),
    );
    const some = fc.uniqueArray(fc.constantFrom(...cases), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(some, fc.constantFrom('producer' as const, 'consumer' as const), (composition, direction) => {
        const before = objectOf(composition.map(({ from }) => from));
        const composed = compare(before, objectOf(composition.map(({ to }) => to)), direction).verdict;
        for (const [i, part] of composition.entries()) {
          const onlyThis = objectOf(composition.map(({ from, to }, j) => (i === j ? to : from)));
          const single = compare(before, onlyThis, direction).verdict;
          expect(single).toBe(part[direction]);
          expect(compareVerdicts(composed, single)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: Number(process.env['RUNS'] ?? 30) },
    );
  });

  test('returns a report or throws an InputError with file and line, for any JSON', () => {
    const keyword = fc.constantFrom(
      'type',
      'enum',
      'properties',
      'items',
      '$ref',
      '$defs',
      'anyOf',
      'not',
      'required',
      'maximum',
      'if',
      'then',
    );
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(keyword, fc.oneof(fc.jsonValue(), schema)));
    fc.assert(
      fc.property(value, value, fc.constantFrom(...directions), (from, to, direction) => {
        let message = '';
        try {
          compareTexts(JSON.stringify(from), JSON.stringify(to), direction);
        } catch (error) {
          message = error instanceof InputError ? error.message : `not an InputError: ${String(error)}`;
        }
        expect(message).toMatch(/^$|^(?:from|to):1: /);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 100) },
    );
  });
});

interface SingleCase {
  from: fc.JsonValue;
  to: fc.JsonValue;
  producer: Verdict;
  consumer: Verdict;
  closedOutputs?: boolean;
}

function readCases(): SingleCase[] {
  const cases: SingleCase[] = JSON.parse(readFileSync(new URL('../corpus/json-schema.json', import.meta.url), 'utf8'));
  return cases.filter(({ closedOutputs }) => closedOutputs !== true);
}

function hasMember(value: fc.JsonValue, names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.some((name) => Object.hasOwn(value, name));
}

function objectOf(schemas: readonly fc.JsonValue[]): Record<string, fc.JsonValue> {
  return { type: 'object', properties: Object.fromEntries(schemas.map((each, i) => [`part${i}`, each])) };
}
