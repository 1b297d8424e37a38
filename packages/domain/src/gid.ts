import { type InterfaceName, interfaces } from './interfaces.ts';
import { parseRecordId, type AccountId, type RecordId, type RecordTypeName } from './record-id.ts';

/** The types of records that have a global identifier. */
export type GidTypeName = Exclude<RecordTypeName, 'ApiClient'>;

/** The format of a namespace. All records of an installation have the same namespace. */
export const gidNamespacePattern = /^[a-z][a-z0-9-]{0,62}$/;

/** Returns `gid://<namespace>/<TypeName>/<number>`. */
export function formatGid<TypeName extends GidTypeName>(
  namespace: string,
  typeName: TypeName,
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

/** The global identifier of an account of an interface. */
export function formatAccountGid(namespace: string, interfaceName: InterfaceName, id: AccountId): string {
  return `gid://${namespace}/${interfaces[interfaceName].accountType}/${id}`;
}

/** As `parseGid`, for the accounts of one interface. */
export function parseAccountGid(namespace: string, interfaceName: InterfaceName, value: string): AccountId | null {
  return parseGid(namespace, interfaces[interfaceName].accountType, value);
}
