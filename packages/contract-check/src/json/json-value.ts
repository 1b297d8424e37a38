import { JsonNumber } from './json-number.ts';

type JsonPrimitive = string | JsonNumber | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** An own member. `constructor` and other names of the prototype are ordinary names in JSON. */
export function ownMember(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Prints equal values as equal texts. Members are sorted, because JSON objects are unordered. */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.toString();
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** The JSON Pointer of the object or list around a value. Null for the document as a whole. */
export function parentPointer(pointer: string): string | null {
  return pointer === '' ? null : pointer.slice(0, pointer.lastIndexOf('/'));
}

/** Appends a key to a JSON Pointer (RFC 6901). */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
