import { type InterfaceName, interfaceOf } from './interfaces.ts';
import { parseRecordId, type AccountId, type RecordId, type RecordTypeName } from './record-id.ts';
import { readRecordKey } from './record-key.ts';
import type { Service } from './service.ts';

/** The types of records that have a global identifier. */
export type GidTypeName = RecordTypeName;

/** An API client has a client id instead. */
type WithGid<TypeName> = TypeName extends 'ApiClient' ? never : unknown;

/** The format of a namespace. All records of an installation have the same namespace. */
export const gidNamespacePattern = /^[a-z][a-z0-9-]{0,62}$/;

/** Returns `gid://<namespace>/<TypeName>/<number>`. */
export function formatGid<TypeName extends GidTypeName>(
  namespace: string,
  typeName: TypeName & WithGid<TypeName>,
  id: RecordId<NoInfer<TypeName>>,
): string {
  return `gid://${namespace}/${typeName}/${id}`;
}

/**
 * Returns the id in a global identifier of exactly this namespace and type, or null for any other string: another type or
 * namespace, another format, leading zeros, or a number outside the range of a positive `bigint`. Callers treat null like a
 * record that does not exist, not as an error.
 */
export function parseGid<TypeName extends GidTypeName>(
  namespace: string,
  typeName: TypeName,
  value: string,
): RecordId<TypeName> | null {
  const prefix = `gid://${namespace}/${typeName}/`;
  return value.startsWith(prefix) ? parseRecordId<TypeName>(value.slice(prefix.length)) : null;
}

/**
 * The global identifier of a record by its id in the application. A number and a UUID look as they are, in lower case. Of other texts, all
 * bytes but ASCII letters, digits and `-._~` are percent-encoded: `gid://acme/Order/SO-2026%2F0001`.
 *
 * @throws {TypeError} if the id is no text of 1 to 200 bytes that PostgreSQL can store
 */
export function gid(namespace: string, typeName: GidTypeName, id: string): string {
  const key = readRecordKey(id);
  if (key === null)
    throw new TypeError(`${JSON.stringify(id.slice(0, 60))} is not an id: it must have 1 to 200 bytes.`);
  return `gid://${namespace}/${typeName}/${encodeKey(key)}`;
}

const encodeKey = (key: string): string =>
  encodeURIComponent(key).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the id in a global identifier that `gid` can have returned, decoded. Null for any other string, as of `parseGid`. */
export function parseRecordGid(namespace: string, typeName: GidTypeName, value: string): string | null {
  const prefix = `gid://${namespace}/${typeName}/`;
  const encoded = value.startsWith(prefix) ? value.slice(prefix.length) : '';
  return /^(?:[\w.~-]|%[\da-f]{2})+$/i.test(encoded) ? readRecordKey(decode(encoded)) : null;
}

/** Empty for bytes that are not UTF-8. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}

/** What global identifiers depend on. */
export interface GidContext {
  /** The namespace of global identifiers, `gid://<namespace>/…`. */
  readonly gidNamespace: string;
  readonly service: Service;
}

/** The global identifier of an account of an interface. */
export function formatAccountGid(
  { gidNamespace, service }: GidContext,
  interfaceName: InterfaceName,
  id: AccountId,
): string {
  return `gid://${gidNamespace}/${interfaceOf(service, interfaceName).account}/${id}`;
}

/** As `parseGid`, for the accounts of one interface. */
export function parseAccountGid(
  { gidNamespace, service }: GidContext,
  interfaceName: InterfaceName,
  value: string,
): AccountId | null {
  const prefix = `gid://${gidNamespace}/${interfaceOf(service, interfaceName).account}/`;
  return value.startsWith(prefix) ? parseRecordId(value.slice(prefix.length)) : null;
}
