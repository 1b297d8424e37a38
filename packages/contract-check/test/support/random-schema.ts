import type { Random } from './random.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Schema = boolean | { readonly [key: string]: Json };

const names = ['a', 'b', 'x', 'xy'] as const;
const types = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
const scalars: readonly [Json, ...Json[]] = ['a', 'ab', '', 'xy', 0, 1, 2, 3, 1.5, null, true, false];

/** A value that generated schemas distinguish. */
export function randomValue(random: Random, depth = 2): Json {
  if (depth === 0 || random.below(5) < 2) return random.of(scalars);
  if (random.oneIn(2)) return random.list(0, 3, () => randomValue(random, depth - 1));
  return Object.fromEntries(random.list(0, 3, () => [random.of(names), randomValue(random, depth - 1)] as const));
}

/** A schema of draft 2020-12, boolean schemas included. `depth` bounds the nesting. */
export function randomSchema(random: Random, depth: number, vocabulary: Vocabulary = mixed): Schema {
  if (random.oneIn(7)) return !random.oneIn(3);
  const keywords = random.list(1, 3, () => randomKeyword(random, depth, vocabulary));
  const schema: { readonly [key: string]: Json } = Object.fromEntries(keywords.flatMap(Object.entries));
  return random.oneIn(2) ? { type: randomType(random), ...schema } : schema;
}

/** A schema that differs from another in one place. */
export function variantOf(schema: Schema, random: Random, depth: number, vocabulary: Vocabulary = mixed): Schema {
  if (typeof schema === 'boolean' || random.oneIn(6)) return randomSchema(random, depth, vocabulary);
  const keywords = Object.keys(schema);
  const keyword = keywords[random.below(keywords.length)];
  if (keyword === undefined || random.oneIn(4)) return { ...schema, ...randomKeyword(random, depth, vocabulary) };
  if (random.oneIn(4)) return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword));
  return { ...schema, [keyword]: variantOfKeyword(keyword, schema[keyword] ?? null, random, depth - 1, vocabulary) };
}

const single: readonly string[] = [
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
];
const lists: readonly string[] = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const named: readonly string[] = ['properties', 'patternProperties', 'dependentSchemas'];

function variantOfKeyword(keyword: string, value: Json, random: Random, depth: number, vocabulary: Vocabulary): Json {
  if (single.includes(keyword) && isSchema(value)) return variantOf(value, random, depth, vocabulary);
  if (lists.includes(keyword) && Array.isArray(value)) {
    const at = random.below(value.length);
    if (value.length > 1 && random.oneIn(5)) return value.filter((_, index) => index !== at);
    return value.map((each: Json, index) =>
      index === at && isSchema(each) ? variantOf(each, random, depth, vocabulary) : each,
    );
  }
  if (named.includes(keyword) && isSchema(value) && typeof value === 'object') {
    const members = Object.keys(value);
    const member = members[random.below(members.length)];
    const inner = member === undefined ? undefined : value[member];
    if (member !== undefined && isSchema(inner))
      return { ...value, [member]: variantOf(inner, random, depth, vocabulary) };
  }
  return keyword === 'type'
    ? randomType(random)
    : (keywordOf(keyword, random, Math.max(depth, 0), vocabulary) ?? value);
}

export function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function randomType(random: Random): Json {
  return random.oneIn(4) ? [...new Set(random.list(1, 3, () => random.of(types)))] : random.of(types);
}

const leaves = [
  'enum',
  'const',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'required',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
  'dependentRequired',
] as const;
const branches = [
  'properties',
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'items',
  'prefixItems',
  'contains',
  'dependentSchemas',
  'anyOf',
  'oneOf',
  'oneOf',
  'allOf',
  'not',
  'if',
] as const;

interface Vocabulary {
  readonly leaves: readonly [string, ...string[]];
  readonly branches: readonly [string, ...string[]];
}

const mixed: Vocabulary = { leaves, branches };
/** Schemas in which `unevaluatedProperties` and `unevaluatedItems` matter. */
export const evaluating: Vocabulary = {
  leaves: ['required', 'minimum'],
  branches: [
    'properties',
    'properties',
    'properties',
    'patternProperties',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedProperties',
    'prefixItems',
    'items',
    'contains',
    'unevaluatedItems',
    'allOf',
    'allOf',
    'anyOf',
    'oneOf',
    'dependentSchemas',
    'if',
  ],
};

function randomKeyword(random: Random, depth: number, vocabulary: Vocabulary): { [key: string]: Json } {
  const keyword = depth > 0 && random.oneIn(2) ? random.of(vocabulary.branches) : random.of(vocabulary.leaves);
  const value = keywordOf(keyword, random, depth - 1, vocabulary) ?? true;
  if (keyword === 'if') {
    const outcomes = ['then', 'else'].map((name) => [name, randomSchema(random, depth - 1, vocabulary)] as const);
    return { if: value, ...Object.fromEntries(outcomes) };
  }
  // Ajv, which tracks evaluated items, sometimes ignores a larger number there.
  const most = vocabulary === evaluating ? 0 : 2;
  if (keyword === 'contains' && random.oneIn(2)) return { contains: value, minContains: random.below(most + 1) };
  return { [keyword]: value };
}

/** Undefined for an unknown keyword. */
function keywordOf(keyword: string, random: Random, depth: number, vocabulary: Vocabulary): Json | undefined {
  const inner = (): Schema => randomSchema(random, Math.max(depth, 0), vocabulary);
  if (single.includes(keyword)) return inner();
  if (lists.includes(keyword)) return random.list(1, 3, inner);
  switch (keyword) {
    case 'properties':
    case 'dependentSchemas':
      return Object.fromEntries(random.list(1, 2, () => [random.of(names), inner()] as const));
    case 'patternProperties':
      return { [random.of(['^x', '^a', 'y$'])]: inner() };
    case 'enum':
      return [...new Set(random.list(1, 3, () => random.of(scalars)))];
    case 'const':
      return random.of(scalars);
    case 'pattern':
      return random.of(['^a', 'b$', '^x']);
    case 'multipleOf':
      return random.of([1, 2, 0.5, 1.5]);
    case 'required':
      return [...new Set(random.list(0, 2, () => random.of(names)))];
    case 'uniqueItems':
      return random.oneIn(2);
    case 'dependentRequired':
      return { [random.of(names)]: [random.of(names)] };
    default:
      return leaves.some((leaf) => leaf === keyword) || keyword === 'minContains' ? random.below(4) : undefined;
  }
}
