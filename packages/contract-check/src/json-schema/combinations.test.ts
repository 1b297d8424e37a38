import { describe, expect, test } from 'vitest';
import { nestedChoices } from '../../test/support/chains.ts';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { run } from '../cli/run.ts';
import { TooManyStepsError } from '../input-error.ts';
import { compareJsonSchemas } from './compare-json-schema.ts';

// Each of these small schemas took minutes or more. The bound of time is only against hanging: a comparison counts its steps.
const timeout = 120_000;

type Json = Record<string, unknown>;

function compare(from: Json, to: Json) {
  const sources = [from, to].map((schema, index) => ({ file: ['old.json', 'new.json'][index] ?? '', schema }));
  const [old, now] = sources.map(({ file, schema }) => ({ file, text: JSON.stringify(schema) }));
  if (old === undefined || now === undefined) throw new Error('unreachable');
  return compareJsonSchemas(old, now, { direction: 'both' });
}

/** How an object refers to definitions, by their names. */
const references: Readonly<Record<string, (to: Readonly<Record<string, Json>>) => Json>> = {
  properties: (to) => ({ properties: to }),
  patternProperties: (to) => ({ patternProperties: to }),
  dependentSchemas: (to) => ({ dependentSchemas: to }),
  dependencies: (to) => ({ dependencies: to }),
  'if and else': (to) => ({
    allOf: Object.values(to).map((each) => ({ if: each, else: { properties: { x: each } } })),
  }),
  contains: (to) => ({ properties: { a: { allOf: Object.values(to).map((each) => ({ contains: each })) } } }),
  not: (to) => ({ properties: { a: { allOf: Object.values(to).map((each) => ({ not: each })) } } }),
};

/** Definitions of overlapping objects that refer to each other. The last one also allows another type. */
function circular(kind: string, count: number, type: string): Json {
  const names = Array.from({ length: count }, (_, index) => `d${index}`);
  const all = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
  const definitions = names.map((name, index) => {
    const choices: Json[] = [
      { type: 'object', ...references[kind]?.(all) },
      { type: 'object', required: [name] },
    ];
    return [name, { oneOf: index === count - 1 ? [...choices, { type }] : choices }];
  });
  return { $ref: '#/$defs/d0', $defs: Object.fromEntries(definitions) };
}

test.each([
  ['properties', 4],
  ['properties', 5],
  ['properties', 20],
  ['patternProperties', 5],
  ['dependentSchemas', 5],
  ['dependencies', 5],
  ['if and else', 5],
  ['contains', 5],
  ['not', 5],
])('compares overlapping choices that refer to each other in %s: %d', { timeout }, (kind, count) => {
  expect(compare(circular(kind, count, 'string'), circular(kind, count, 'string')).changes).toEqual([]);
  expect(compare(circular(kind, count, 'string'), circular(kind, count, 'integer')).verdict).toBe('major');
});

/** Schemas that each contain the next one, which is `$ref`, in the same way. */
const nested: Readonly<Record<string, (next: Json) => Json>> = {
  anyOf: (next) => ({ anyOf: [next, next] }),
  oneOf: (next) => ({ oneOf: [next, next] }),
  'allOf in anyOf': (next) => ({ anyOf: [{ allOf: [next, next] }, { allOf: [next] }] }),
  'oneOf in allOf': (next) => ({ allOf: [{ oneOf: [next, { required: ['x'] }] }, { oneOf: [next, next] }] }),
  'not in not': (next) => ({ not: { not: next }, properties: { a: { not: next } } }),
  'not beside not': (next) => ({ not: { allOf: [next, { not: next }] } }),
  'if, then and else': (next) => Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, next])),
  'contains in items': (next) => ({ contains: next, items: next }),
  'contains in contains': (next) => ({ contains: { contains: next }, items: { contains: next } }),
  patternProperties: (next) => ({ patternProperties: { '^a': next, '^b': next } }),
  dependentSchemas: (next) => ({ dependentSchemas: { a: next, b: next } }),
  dependencies: (next) => ({ dependencies: { a: next, b: next } }),
  'overlapping objects': (next) => ({
    properties: { a: next, b: { anyOf: [next, {}] } },
    oneOf: [next, { required: ['z'] }],
  }),
};

function levels(kind: string, maxLength: number): Json {
  const wrap = nested[kind] ?? (() => ({}));
  const wrapped = Array.from({ length: 40 }, (_, level) => [`a${level}`, wrap({ $ref: `#/$defs/a${level + 1}` })]);
  return { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(wrapped), a40: { type: 'string', maxLength } } };
}

/** The verdict, or whether there are too many steps. */
function verdictOf(from: Json, to: Json): string {
  try {
    return compare(from, to).verdict;
  } catch (error) {
    return error instanceof TooManyStepsError ? 'too many steps' : 'another error';
  }
}

describe.each([
  ['anyOf', 'too many steps'],
  ['oneOf', 'too many steps'],
  ['allOf in anyOf', 'too many steps'],
  ['oneOf in allOf', 'too many steps'],
  ['not in not', 'major'],
  ['not beside not', 'too many steps'],
  ['if, then and else', 'too many steps'],
  ['contains in items', 'major'],
  ['contains in contains', 'major'],
  ['patternProperties', 'major'],
  ['dependentSchemas', 'major'],
  ['dependencies', 'major'],
  ['overlapping objects', 'too many steps'],
])('40 levels of %s', (kind, changed) => {
  test('are the same if nothing changes', { timeout }, () => {
    expect(compare(levels(kind, 5), levels(kind, 5)).changes).toEqual([]);
  });

  test('are compared or rejected if the innermost one changes', { timeout }, () => {
    expect(verdictOf(levels(kind, 5), levels(kind, 6))).toBe(changed);
  });
});

test('names the version and the place with too many combinations', { timeout }, async () => {
  const choices = nestedChoices(5);
  const bomb = { type: 'object', properties: { filter: choices }, $defs: choices['$defs'] };
  const small = { type: 'object', properties: { filter: { type: 'string' } } };
  const folder = folderForTest();
  const files = { small: writeIn(folder, 'small.json', small), bomb: writeIn(folder, 'bomb.json', bomb) };
  const stderr = `${files.bomb}: the schemas at $.filter combine in too many ways to be compared (more than 2000000 steps). Nest and repeat fewer anyOf, oneOf, if, not and patternProperties in them.\n`;
  for (const [from, to] of [
    [files.small, files.bomb],
    [files.bomb, files.small],
  ] as const) {
    const result = await run(['json-schema', '--from', from, '--to', to, '--direction', 'both']);
    expect(result).toEqual({ exitCode: 2, stdout: '', stderr });
  }
});

const numbered = (count: number, schemaOf: (index: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => schemaOf(index)));
const patternsOf = (type: string) => ({
  properties: numbered(3_000, (index) => [`p${index}`, { type: 'string' }]),
  patternProperties: numbered(1_500, (index) => [`^q${index}`, { type }]),
});

test('counts the steps of many patterns and names', { timeout }, () => {
  expect(() => compare(patternsOf('string'), patternsOf('number'))).toThrow(TooManyStepsError);
});

test.each(['^(a+)+$', '^(?:a|a)*$', '^a*a*a*a*a*a*b$'])('names the pattern %s, which takes too long', (pattern) => {
  const schema = (type: string) => ({
    properties: { ['a'.repeat(5_000)]: {}, [`${'a'.repeat(40)}!`]: {} },
    patternProperties: { [pattern]: { type } },
  });
  const problem = `the pattern ${JSON.stringify(pattern)} at $ takes more than a second to match the names there.`;
  expect(() => compare(schema('string'), schema('number'))).toThrow(problem);
});
