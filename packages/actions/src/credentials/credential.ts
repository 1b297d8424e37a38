import type { ApiKeyRow } from '@deedwire/store/credentials';

/** An API key without its secret, and its client. */
export interface Credential {
  clientId: string;
  /** The interface version that the client is pinned to. */
  schemaVersion: string;
  /** The cost points of the client's full bucket. */
  costMaximum: number;
  /** The cost points that the client regains in a second. */
  costRestoreRate: number;
  keyId: string;
  createdAt: Date;
  /** Null if the key does not expire. */
  expiresAt: Date | null;
  /** Null unless the key is revoked. */
  revokedAt: Date | null;
  /** Accurate to the minute. Null if the key has never been used. */
  lastUsedAt: Date | null;
}

export function toCredential(row: ApiKeyRow): Credential {
  return {
    clientId: row.clientId,
    schemaVersion: row.schemaVersion,
    costMaximum: row.costMaximum,
    costRestoreRate: row.costRestoreRate,
    keyId: row.keyId,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    lastUsedAt: row.lastUsedAt,
  };
}
