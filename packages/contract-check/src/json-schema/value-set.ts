import { JsonNumber, canonicalJson, isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { listMember } from './conjunction.ts';
import type { Schema } from './schema-document.ts';

/** The types that are compared. Null is compared separately. */
export const instanceTypes = ['string', 'number', 'boolean', 'object', 'array'] as const;
export type InstanceType = (typeof instanceTypes)[number];

/** The values that `enum` and `const` allow of a type, or of all types, and whether a `const` does. Null if any is valid. */
export function valueSetOf(all: readonly Schema[], type: InstanceType | null) {
  const fits = (value: JsonValue): boolean => type === null || instanceTypeOf(value) === type;
  const lists = all.flatMap(listsOf).map((list) => list.filter(fits));
  const [first, ...rest] = lists.map((list) => new Set(list.map(canonicalJson)));
  if (first === undefined) return null;
  const values = new Set([...first].filter((value) => rest.every((other) => other.has(value))));
  // Both booleans together are any boolean.
  if (type === 'boolean' && values.size === 2) return null;
  return { values, constant: all.some((schema) => Object.hasOwn(schema, 'const')) };
}

function listsOf(schema: Schema): (readonly JsonValue[])[] {
  const single = ownMember(schema, 'const');
  return [
    ...(Object.hasOwn(schema, 'enum') ? [listMember(schema, 'enum')] : []),
    ...(single === undefined ? [] : [[single]]),
  ];
}

/** Null if the value is null. */
function instanceTypeOf(value: JsonValue): InstanceType | null {
  if (value === null) return null;
  if (Array.isArray(value)) return 'array';
  if (value instanceof JsonNumber) return 'number';
  if (isJsonObject(value)) return 'object';
  return typeof value === 'string' ? 'string' : 'boolean';
}

/** The types that `type` allows, without null. `integer` counts as `number`. */
export function typesOf(all: readonly Schema[]): InstanceType[] {
  return instanceTypes.filter((type) =>
    all.every((schema) => {
      const allowed = typeKeyword(schema);
      return allowed === null || allowed.includes(type) || (type === 'number' && allowed.includes('integer'));
    }),
  );
}

/** Whether `type` or `multipleOf` allow integers but no fractions. */
export function isInteger(all: readonly Schema[]): boolean {
  return all.some((schema) => {
    const divisor = ownMember(schema, 'multipleOf');
    if (divisor instanceof JsonNumber && divisor.isInteger) return true;
    const allowed = typeKeyword(schema);
    return allowed !== null && allowed.includes('integer') && !allowed.includes('number');
  });
}

/** Null if any type is allowed. */
export function typeKeyword(schema: Schema): readonly JsonValue[] | null {
  const type = ownMember(schema, 'type');
  if (type === undefined) return null;
  return Array.isArray(type) ? type : [type];
}
