import { canonicalJson, isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { listMember } from './conjunction.ts';
import type { Schema } from './schema-document.ts';

/** The types that are told apart; null is judged by itself. */
export const instanceTypes = ['string', 'number', 'boolean', 'object', 'array'] as const;
export type InstanceType = (typeof instanceTypes)[number];

/** The values that `enum` and `const` leave. */
export interface ValueSet {
  /** Canonical JSON. */
  readonly values: ReadonlySet<string>;
  /** From a `const`: a promise that there is just one. */
  readonly constant: boolean;
}

/** Null: any value. Null as a value is left out. */
export function valueSetOf(all: readonly Schema[], type: InstanceType): ValueSet | null {
  const lists = all.flatMap(listsOf).map((list) => list.filter((value) => instanceTypeOf(value) === type));
  const [first, ...rest] = lists.map((list) => new Set(list.map(canonicalJson)));
  if (first === undefined) return null;
  const values = new Set([...first].filter((value) => rest.every((other) => other.has(value))));
  // Both truth values are any.
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

/** Null: the value is null. */
function instanceTypeOf(value: JsonValue): InstanceType | null {
  if (value === null) return null;
  if (Array.isArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'string') return 'string';
  return typeof value === 'number' ? 'number' : 'boolean';
}

/** The types that `type` leaves. Null is left out; `integer` is a number here. */
export function typesOf(all: readonly Schema[]): InstanceType[] {
  return instanceTypes.filter((type) =>
    all.every((schema) => {
      const allowed = typeKeyword(schema);
      return allowed === null || allowed.includes(type) || (type === 'number' && allowed.includes('integer'));
    }),
  );
}

/** Whether `type` leaves no number but whole ones. */
export function isInteger(all: readonly Schema[]): boolean {
  return all.some((schema) => {
    const allowed = typeKeyword(schema);
    return allowed !== null && allowed.includes('integer') && !allowed.includes('number');
  });
}

/** Null: any type. */
export function typeKeyword(schema: Schema): readonly JsonValue[] | null {
  const type = ownMember(schema, 'type');
  if (type === undefined) return null;
  return Array.isArray(type) ? type : [type];
}
