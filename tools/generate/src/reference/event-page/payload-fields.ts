import { compareJsonSchemas } from '@deedwire/contract-check';
import type { RecordedChange } from '@deedwire/release';
import { eventsFolder, typicalBodyPath } from '../../event-versions.ts';
import { readText } from '../../workspace-files.ts';
import { sourceOf } from '../differences.ts';
import type { Remark } from '../history.ts';
import type { EventBody } from './example-delivery.ts';

/** The JSON Schema keywords that payload schemas use. */
export interface PayloadSchema {
  $schema?: string;
  $comment?: string;
  title?: string;
  type?: string | string[];
  const?: string;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  description?: string;
  properties?: Record<string, PayloadSchema>;
  required?: string[];
  /** Two alternatives: the schema of the value, and null. */
  anyOf?: PayloadSchema[];
  items?: PayloadSchema;
}

export interface PayloadField {
  /** For example `data.matter.id`. */
  path: string;
  type: string;
  /** True if the field can be null. Its description then explains null. */
  isNullable: boolean;
  /** True if bodies that were stored before the field was added lack it. */
  isOptional: boolean;
  description: string;
}

/** AsyncAPI, which knows draft 07 only, has them too. */
const known = ['title', 'type', 'const', 'format', 'pattern', 'description', 'properties', 'required'];
const remarks = ['$schema', '$comment'];
/** The limits of every integer in JavaScript say nothing about a field. */
const limits: Readonly<Record<string, number>> = {
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

/** @param path path of the published JSON Schema, relative to the workspace root */
export function readPayloadSchema(path: string): PayloadSchema {
  return JSON.parse(readText(path));
}

/**
 * Every field of a body. A field comes before the fields inside it.
 *
 * @param remark about the releases that added fields
 * @throws {Error} if a field uses a keyword that the table of fields does not show
 */
export function payloadFields(schema: PayloadSchema, remark: Remark = () => '', parent = ''): PayloadField[] {
  const unknown = unknownKeywords(schema);
  if (unknown.length > 0)
    throw new Error(`${parent || 'the body'}: the reference does not show the keyword ${unknown.join(', ')}`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const { isNullable, ...field } = withoutNull(property);
    const types = [field.type ?? []].flat();
    return [
      {
        path,
        type: typeSummary(field, types.filter((type) => type !== 'null').join(' or ')),
        isNullable,
        isOptional: schema.required?.includes(name) !== true,
        description: (field.description ?? '') + remark(`$.${path}`, parent === '' ? null : `$.${parent}`),
      },
      ...payloadFields(field, remark, path),
    ];
  });
}

/** The keywords of a schema, and of the items of an array, that the table of fields does not show. */
function unknownKeywords({ items, ...schema }: PayloadSchema): string[] {
  const unknown = Object.entries(schema).filter(
    ([keyword, value]) => ![...known, ...remarks].includes(keyword) && value !== limits[keyword],
  );
  return [...unknown.map(([keyword]) => keyword), ...(items === undefined ? [] : unknownKeywords(items))];
}

/** Replaces the alternatives of a nullable field by the schema of its value. Other alternatives stay. */
export function withoutNull(schema: PayloadSchema): PayloadSchema & { isNullable: boolean } {
  const { anyOf = [], ...rest } = schema;
  const [value, nothing] = anyOf;
  if (anyOf.length !== 2 || nothing?.type !== 'null')
    return { ...schema, isNullable: [schema.type].flat().includes('null') };
  return { ...rest, ...value, isNullable: true };
}

function typeSummary({ const: constant, format, pattern, items }: PayloadSchema, type: string): string {
  if (items !== undefined) return `array of ${typeSummary(items, String(items.type))}`;
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  if (pattern !== undefined) return `\`${gidForm(pattern)}\``;
  return format === undefined ? type : `${type}, ${format}`;
}

/** `gid://<namespace>/Referral/<number>` of the pattern of such an identifier. */
function gidForm(pattern: string): string {
  const [, typeName] = /^\^gid:\\\/\\\/\[a-z\]\[a-z0-9-\]\*\\\/(\w+)\\\/\[1-9\]\[0-9\]\*\$$/.exec(pattern) ?? [];
  if (typeName === undefined) throw new Error(`the reference has no words for the pattern ${pattern}`);
  return `gid://<namespace>/${typeName}/<number>`;
}

/** The JSON Schema of a payload version, relative to the workspace. */
export function schemaPathOf(type: string, version: string): string {
  return `${eventsFolder}/json-schema/${type}/${version}.json`;
}

export function readTypicalBody(type: string, version: string): EventBody {
  return JSON.parse(readText(typicalBodyPath(type, version)));
}

/**
 * The changes between two payload versions, by field path. The `version` field always differs and is omitted.
 *
 * @param older path of a JSON Schema, relative to the workspace root
 * @param newer path of a JSON Schema, relative to the workspace root
 */
export function payloadDifferences(older: string, newer: string): RecordedChange[] {
  const before = pathsOf(older);
  const after = pathsOf(newer);
  const { changes } = compareJsonSchemas(sourceOf(older), sourceOf(newer), { direction: 'producer' });
  return changes
    .map((change) => ({ ...change, coordinate: change.coordinate.replace(/^\$\./, '') }))
    .filter(({ coordinate }) => coordinate !== 'version')
    .map((change) => {
      if (!after.has(change.coordinate)) return { ...change, message: 'The field was removed.' };
      if (!before.has(change.coordinate)) return { ...change, message: 'The field was added.' };
      return change;
    });
}

function pathsOf(file: string): Set<string> {
  return new Set(payloadFields(readPayloadSchema(file)).map(({ path }) => path));
}
