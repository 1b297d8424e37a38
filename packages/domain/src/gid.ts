/** The types of records that have a global identifier. */
export type GidTypeName =
  | 'Lender'
  | 'Matter'
  | 'Organization'
  | 'Partner'
  | 'Referral'
  | 'TeamMember'
  | 'WebhookDelivery'
  | 'WebhookEvent'
  | 'WebhookSubscription';

/** The number of a record: a positive PostgreSQL `bigint` in decimal, `'1'` to `'9223372036854775807'`. */
export type RecordId = string;

const largestBigint = 9_223_372_036_854_775_807n;

/** The format of a namespace. All records of an installation have the same namespace. */
export const gidNamespacePattern = /^[a-z][a-z0-9-]{0,62}$/;

/** Returns `gid://<namespace>/<TypeName>/<number>`. */
export function formatGid(namespace: string, typeName: GidTypeName, id: RecordId): string {
  return `gid://${namespace}/${typeName}/${id}`;
}

/**
 * Returns the number in a global identifier of exactly this namespace and type, or null for any other string: another
 * type or namespace, another format, leading zeros, or a number outside the range of a positive `bigint`. Callers treat
 * null like a record that does not exist, not as an error.
 */
export function parseGid(namespace: string, typeName: GidTypeName, value: string): RecordId | null {
  const prefix = `gid://${namespace}/${typeName}/`;
  if (!value.startsWith(prefix)) return null;
  const id = value.slice(prefix.length);
  if (!/^[1-9]\d{0,18}$/.test(id) || BigInt(id) > largestBigint) return null;
  return id;
}
