import { isJsonObject, type JsonValue } from '../json/json-value.ts';

/** Where a keyword holds schemas: itself, a list of them, an object of them by name, or (`items`) one or a list. */
type Subschemas = 'one' | 'list' | 'named' | 'one or list' | 'named, or names';

/** Every keyword that holds schemas, in all drafts from 4 to 2020-12. */
export const subschemaKeywords: ReadonlyMap<string, Subschemas> = new Map([
  ['$defs', 'named'],
  ['definitions', 'named'],
  ['properties', 'named'],
  ['patternProperties', 'named'],
  ['dependentSchemas', 'named'],
  ['dependencies', 'named, or names'],
  ['additionalProperties', 'one'],
  ['unevaluatedProperties', 'one'],
  ['propertyNames', 'one'],
  ['items', 'one or list'],
  ['prefixItems', 'list'],
  ['additionalItems', 'one'],
  ['unevaluatedItems', 'one'],
  ['contains', 'one'],
  ['allOf', 'list'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['not', 'one'],
  ['if', 'one'],
  ['then', 'one'],
  ['else', 'one'],
]);

const typeNames = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);

const isText = (value: JsonValue): boolean => typeof value === 'string';
const isFlag = (value: JsonValue): boolean => typeof value === 'boolean';
const isNumber = (value: JsonValue): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: JsonValue): boolean => isNumber(value) && Number.isInteger(value) && Number(value) >= 0;
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText);
const isTypeName = (value: JsonValue): boolean => typeof value === 'string' && typeNames.has(value);

/** What the other keywords must hold for the schema to mean anything. */
const shapes: Readonly<Record<string, { expected: string; fits(value: JsonValue): boolean }>> = {
  type: {
    expected: 'a type name or a list of them',
    fits: (value) => isTypeName(value) || (Array.isArray(value) && value.every(isTypeName)),
  },
  enum: { expected: 'a list', fits: Array.isArray },
  required: {
    expected: 'a list of names',
    // Draft 3 wrote a flag at the property itself; some tools still do, to no effect.
    fits: (value) => isTexts(value) || isFlag(value),
  },
  dependentRequired: {
    expected: 'an object of lists of names',
    fits: (value) => isJsonObject(value) && Object.values(value).every(isTexts),
  },
  multipleOf: { expected: 'a number above 0', fits: (value) => isNumber(value) && Number(value) > 0 },
  maximum: { expected: 'a number', fits: isNumber },
  minimum: { expected: 'a number', fits: isNumber },
  exclusiveMaximum: { expected: 'a number', fits: (value) => isNumber(value) || isFlag(value) },
  exclusiveMinimum: { expected: 'a number', fits: (value) => isNumber(value) || isFlag(value) },
  maxLength: { expected: 'a whole number from 0', fits: isCount },
  minLength: { expected: 'a whole number from 0', fits: isCount },
  maxItems: { expected: 'a whole number from 0', fits: isCount },
  minItems: { expected: 'a whole number from 0', fits: isCount },
  maxProperties: { expected: 'a whole number from 0', fits: isCount },
  minProperties: { expected: 'a whole number from 0', fits: isCount },
  maxContains: { expected: 'a whole number from 0', fits: isCount },
  minContains: { expected: 'a whole number from 0', fits: isCount },
  uniqueItems: { expected: 'true or false', fits: isFlag },
  pattern: { expected: 'a text', fits: isText },
  format: { expected: 'a text', fits: isText },
  $ref: { expected: 'a text', fits: isText },
  $dynamicRef: { expected: 'a text', fits: isText },
  $recursiveRef: { expected: 'a text', fits: isText },
  $id: { expected: 'a text', fits: isText },
  $anchor: { expected: 'a text', fits: isText },
  $dynamicAnchor: { expected: 'a text', fits: isText },
};

/** What a keyword's value should be and is not; null when it is right, or nothing is known about the keyword. */
export function misshapen(keyword: string, value: JsonValue): string | null {
  const subschemas = subschemaKeywords.get(keyword);
  if (subschemas === 'list' && !Array.isArray(value)) return 'a list of schemas';
  if ((subschemas === 'named' || subschemas === 'named, or names') && !isJsonObject(value)) return 'an object of schemas';
  const shape = Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined;
  return shape === undefined || shape.fits(value) ? null : shape.expected;
}

/** Says nothing about which values are valid, and is compared apart or not at all. */
const silentKeywords = ['$schema', '$id', 'id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$vocabulary', '$comment', 'components'];
const judgedKeywords = ['const', 'default', 'deprecated', 'readOnly', 'writeOnly', 'nullable', 'contentEncoding', 'contentMediaType'];

const understood = new Set([...subschemaKeywords.keys(), ...Object.keys(shapes), ...silentKeywords, ...judgedKeywords]);

/** `title`, `description`, `examples` and all that the specification does not know. */
export function isDocumentation(keyword: string): boolean {
  return !understood.has(keyword);
}
