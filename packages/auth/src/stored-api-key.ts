import type { InterfaceName } from './interface-name.ts';

/** A key as it is stored, with the client, the account and the organization that it belongs to. */
export interface StoredApiKey {
  keyId: string;
  /** SHA-256 of the whole key. */
  keyHash: Buffer;
  /** From this moment on the key is refused. Null: it does not expire. */
  expiresAt: Date | null;
  /** Null: not revoked. */
  revokedAt: Date | null;
  /** The value of the client id header. */
  clientId: string;
  accountId: string;
  /** The value of the organization id header. */
  organizationId: string;
  interfaceName: InterfaceName;
  /** The schema version pinned on the client: it counts when a request names none. */
  schemaVersion: string;
}
