import { JsonNumber, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';

/** How a keyword contains schemas. `named` is an object of schemas by name. `names` is a list of property names. */
type Subschemas = 'one' | 'list' | 'named' | 'one or list' | 'named, or names';

/** Every keyword that contains schemas, in drafts 4 to 2020-12. */
export const subschemaKeywords = new Map<string, Subschemas>([
  ...forEach('named', '$defs definitions properties patternProperties dependentSchemas'),
  ...forEach('named, or names', 'dependencies'),
  ...forEach('one', 'additionalProperties unevaluatedProperties propertyNames additionalItems unevaluatedItems'),
  ...forEach('one', 'contains not if then else'),
  ...forEach('one or list', 'items'),
  ...forEach('list', 'prefixItems allOf anyOf oneOf'),
]);

/** The same value for each keyword of a list. */
function forEach<const T>(value: T, keywords: string): (readonly [keyword: string, T])[] {
  return keywords.split(' ').map((keyword) => [keyword, value]);
}

/** The schemas in the value of a keyword, by their name or index in it. The name is null if the value itself is the schema. */
export function innerSchemas(keyword: string, value: JsonValue): (readonly [name: string | null, JsonValue])[] {
  const subschemas = subschemaKeywords.get(keyword);
  if (subschemas === undefined) return [];
  if (subschemas === 'one' || (subschemas === 'one or list' && !Array.isArray(value))) return [[null, value]];
  return Object.entries(value ?? {});
}

const typeNames = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);

const isText = (value: JsonValue): boolean => typeof value === 'string';
const isFlag = (value: JsonValue): boolean => typeof value === 'boolean';
/** Bounds the memory for computing with a number: more than the 6,145 digits of an IEEE 754 decimal128. */
const maxMagnitude = 10_000n;
const isNumber = (value: JsonValue): value is JsonNumber =>
  value instanceof JsonNumber && value.magnitude <= maxMagnitude;
const isCount = (value: JsonValue): boolean => isNumber(value) && value.isInteger && value.sign >= 0;
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText);
const isTextLists = (value: JsonValue): boolean => isJsonObject(value) && Object.values(value).every(isTexts);
const isTypeName = (value: JsonValue): boolean => typeof value === 'string' && typeNames.has(value);
const isType = (value: JsonValue): boolean => isTypeName(value) || (Array.isArray(value) && value.every(isTypeName));

interface Shape {
  readonly expected: string;
  readonly fits: (value: JsonValue) => boolean;
}

const text: Shape = { expected: 'a string', fits: isText };
const count: Shape = { expected: 'a non-negative integer', fits: isCount };
const bound: Shape = { expected: 'a number below 1e10000', fits: isNumber };
// Draft 4 had booleans.
const exclusiveBound: Shape = { ...bound, fits: (value) => isNumber(value) || isFlag(value) };

/** The valid values of the other keywords. */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ...forEach(text, 'pattern format $ref $dynamicRef $recursiveRef $id $anchor $dynamicAnchor'),
  ...forEach(count, 'maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains'),
  ...forEach(bound, 'maximum minimum'),
  ...forEach(exclusiveBound, 'exclusiveMaximum exclusiveMinimum'),
  ['type', { expected: 'a type name or a list of type names', fits: isType }],
  ['enum', { expected: 'a list', fits: Array.isArray }],
  // Draft 3 had a boolean in the property itself. Some tools still write it. It has no effect.
  ['required', { expected: 'a list of names', fits: (value) => isTexts(value) || isFlag(value) }],
  ['dependentRequired', { expected: 'an object of lists of names', fits: isTextLists }],
  [
    'multipleOf',
    { expected: 'a number above 0 and below 1e10000', fits: (value) => isNumber(value) && value.sign > 0 },
  ],
  ['uniqueItems', { expected: 'true or false', fits: isFlag }],
]);

/** Describes the expected value of a keyword. Null if the value is valid or the keyword is unknown. */
export function expectedInstead(keyword: string, value: JsonValue): string | null {
  const subschemas = subschemaKeywords.get(keyword);
  if (subschemas === 'list' && !Array.isArray(value)) return 'a list of schemas';
  if ((subschemas === 'named' || subschemas === 'named, or names') && !isJsonObject(value))
    return 'an object of schemas';
  const shape = shapes.get(keyword);
  return shape === undefined || shape.fits(value) ? null : shape.expected;
}

/** Keywords that name schemas, or contain schemas that apply only where something refers to them. */
export const naming: ReadonlySet<string> = new Set(
  '$schema $id id $anchor $dynamicAnchor $comment $defs definitions'.split(' '),
);

/** In a place of a reference to something outside of the files: its address. No schema can contain this keyword. */
export const external = 'external $ref';

/** The keywords that the comparison covers, or that have no effect on values. */
const understood = new Set([
  ...subschemaKeywords.keys(),
  ...shapes.keys(),
  ...naming,
  external,
  ...'const default deprecated readOnly writeOnly nullable contentEncoding contentMediaType discriminator'.split(' '),
  ...'$recursiveAnchor $vocabulary'.split(' '),
]);

/** Whether a keyword is `title`, `description`, `examples` or one that the specification does not define. */
export function isDocumentation(keyword: string): boolean {
  return !understood.has(keyword);
}

/** Whether no draft defines a keyword, so that only its authors know what it means. */
export function isUnknown(keyword: string): boolean {
  return isDocumentation(keyword) && !['title', 'description', 'examples'].includes(keyword);
}

const otherDocuments = { openapi: 'an OpenAPI', swagger: 'a Swagger', asyncapi: 'an AsyncAPI' } as const;

/** What is wrong if the root of a file shows that it is no JSON Schema. Null if it can be one. */
export function whyNoSchema(root: JsonObject): string | null {
  for (const [member, what] of Object.entries(otherDocuments))
    if (typeof ownMember(root, member) === 'string')
      return `is ${what} document, not a JSON Schema. Compare the schemas in it as separate files.`;
  if ([root, ownMember(root, 'data')].some((each) => isJsonObject(each) && Object.hasOwn(each, '__schema')))
    return 'is the result of a GraphQL introspection query, not a JSON Schema. Compare it with contract-check graphql.';
  const keywords = Object.keys(root);
  // Data and settings can have members such as `id`, `description`, and a `$schema` that describes them.
  const isSchema =
    keywords.some((each) => subschemaKeywords.has(each) || shapes.has(each) || each === 'const') ||
    /\bjson-schema\.org\//.test(JSON.stringify(root['$schema'] ?? null)) ||
    !keywords.some(isUnknown);
  return isSchema ? null : `is no JSON Schema: it has no keyword such as type, properties or $defs.`;
}
