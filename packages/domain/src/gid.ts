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

/** The number of a record, as PostgreSQL's `bigint` in decimal: `'1'` to `'9223372036854775807'`. */
export type RecordId = string;

const largestBigint = 9_223_372_036_854_775_807n;

/** What a namespace must look like. It is the same for all records of an installation. */
export const gidNamespacePattern = /^[a-z][a-z0-9-]{0,62}$/;

/** `gid://<namespace>/<TypeName>/<number>`. */
export function formatGid(namespace: string, typeName: GidTypeName, id: RecordId): string {
  return `gid://${namespace}/${typeName}/${id}`;
}

/**
 * The number in a global identifier of exactly this namespace and type.
 *
 * @returns null for anything else: another type or namespace, another shape, a number with leading zeros or outside of
 * what a `bigint` key can be. To a caller such an identifier is a record that does not exist, never an error.
 */
export function parseGid(namespace: string, typeName: GidTypeName, value: string): RecordId | null {
  const prefix = `gid://${namespace}/${typeName}/`;
  if (!value.startsWith(prefix)) return null;
  const id = value.slice(prefix.length);
  if (!/^[1-9]\d{0,18}$/.test(id) || BigInt(id) > largestBigint) return null;
  return id;
}
