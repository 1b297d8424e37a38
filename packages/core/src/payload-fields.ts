import * as z from 'zod';

/**
 * Returns a sentence about the release that added an element.
 *
 * @param parent the coordinate of the element around it. Null if there is none.
 */
type Remark = (coordinate: string, parent: string | null) => string;

/** The JSON Schema keywords that payload schemas use. */
export interface PayloadSchema {
  $schema?: string;
  $comment?: string;
  title?: string;
  type?: string | string[];
  const?: string | number | boolean;
  enum?: (string | number | boolean)[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  description?: string;
  properties?: Record<string, PayloadSchema>;
  required?: string[];
  /** Two alternatives: the schema of the value, and null. */
  anyOf?: PayloadSchema[];
  items?: PayloadSchema;
  minItems?: number;
  maxItems?: number;
}

export interface PayloadField {
  /** For example `data.order.id`, or `data.lines[*].quantity` of each item of an array. */
  path: string;
  /** In words. Values and patterns are code of Markdown. */
  type: string;
  /** True if the field can be null. Its description then explains null. */
  isNullable: boolean;
  isOptional: boolean;
  /** Whether a later release than that of its parent added the field. Bodies that were stored before can lack it. */
  isAddedLater: boolean;
  description: string;
}

/** AsyncAPI, which knows draft 07 only, has them too. */
const known = new Set(
  'title description type const enum format pattern properties required items minLength maxLength minItems maxItems'
    .concat(' minimum exclusiveMinimum maximum exclusiveMaximum $schema $comment')
    .split(' '),
);

/**
 * The JSON Schema of the data of a payload. Receivers accept unknown members, and a format says what its pattern, which releases of zod
 * word differently, repeats.
 */
export function openSchemaOf(data: z.ZodType): PayloadSchema {
  const schema = z.toJSONSchema(data, {
    override({ jsonSchema }) {
      delete jsonSchema.additionalProperties;
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return JSON.parse(JSON.stringify(schema));
}

/**
 * Every field of a body. A field comes before the fields inside it.
 *
 * @param remark about the releases that added fields
 * @throws {Error} if a field uses another keyword
 */
export function payloadFields(schema: PayloadSchema, remark: Remark = () => '', parent = ''): PayloadField[] {
  const unknown = Object.keys(schema).filter((keyword) => !known.has(keyword));
  if (unknown.length > 0)
    throw new Error(`${parent || 'the body'}: a payload cannot have the keyword ${unknown.join(', ')}`);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const { isNullable, ...field } = withoutNull(property);
    const added = remark(`$.${path}`, parent === '' ? null : `$.${parent}`);
    const row: PayloadField = {
      path,
      type: typeSummary(field),
      isNullable,
      isOptional: schema.required?.includes(name) !== true,
      isAddedLater: added !== '',
      description: (field.description ?? '') + added,
    };
    return [row, ...payloadFields(field, remark, path)];
  });
  if (schema.items === undefined) return members;
  const { isNullable: _, ...items } = withoutNull(schema.items);
  return [...members, ...payloadFields(items, remark, `${parent}[*]`)];
}

/** Replaces the alternatives of a nullable field by the schema of its value. Other alternatives stay. */
export function withoutNull(schema: PayloadSchema): PayloadSchema & { isNullable: boolean } {
  const { anyOf = [], ...rest } = schema;
  const [value, nothing] = anyOf;
  if (anyOf.length !== 2 || nothing?.type !== 'null')
    return { ...schema, isNullable: [schema.type].flat().includes('null') };
  return { ...rest, ...value, isNullable: true };
}

function typeSummary(schema: PayloadSchema): string {
  const { const: constant, enum: values, format, pattern, items } = schema;
  if (constant !== undefined) return code(JSON.stringify(constant));
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(' or ');
  const types = [schema.type ?? []].flat();
  const type = types.filter((each) => each !== 'null').join(' or ');
  if (items !== undefined) return [`array of ${itemSummary(items)}`, ...countOf(schema)].join(', ');
  const gid = pattern === undefined ? null : gidForm(pattern);
  if (gid !== null) return code(gid);
  const shown = pattern === undefined ? [] : [`matching ${code(pattern)}`];
  return [type, ...(format === undefined ? [] : [format]), ...shown, ...countOf(schema), ...rangeOf(schema)].join(', ');
}

function itemSummary(items: PayloadSchema): string {
  const { isNullable, ...item } = withoutNull(items);
  return isNullable ? `${typeSummary(item)} or null` : typeSummary(item);
}

/** The length of a text or of an array, for example `1 to 3 items`. */
function countOf({ minLength, maxLength, minItems, maxItems }: PayloadSchema): string[] {
  return [...countIn(minLength, maxLength, 'character'), ...countIn(minItems, maxItems, 'item')];
}

function countIn(min: number | undefined, max: number | undefined, unit: string): string[] {
  const counted = (count: number): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (min === undefined && max === undefined) return [];
  if (min === max) return [counted(max ?? 0)];
  if (max === undefined) return [`at least ${counted(min ?? 0)}`];
  return [min === undefined ? `at most ${counted(max)}` : `${min} to ${counted(max)}`];
}

/** For example `0 to 100`. The limits of every integer in JavaScript say nothing about a field. */
function rangeOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: PayloadSchema): string[] {
  const min = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (min !== undefined && max !== undefined) return [`${min} to ${max}`];
  const bounds = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(exclusiveMaximum === undefined ? [] : [`below ${exclusiveMaximum}`]),
  ];
  return bounds.length === 0 ? [] : [bounds.join(' and ')];
}

/** `gid://<namespace>/Order/<number>` of the pattern of such an identifier. Null of another pattern. */
function gidForm(pattern: string): string | null {
  const [, typeName] = /^\^gid:\\\/\\\/\[a-z\]\[a-z0-9-\]\*\\\/(\w+)\\\/\[1-9\]\[0-9\]\*\$$/.exec(pattern) ?? [];
  return typeName === undefined ? null : `gid://<namespace>/${typeName}/<number>`;
}

function code(text: string): string {
  return `\`${text}\``;
}
