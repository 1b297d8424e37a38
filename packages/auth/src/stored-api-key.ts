import type { Ability, InterfaceName } from '@deedwire/core';
import type { AddressRanges } from './address-ranges.ts';

/** The bucket of cost points of a client. */
export interface CostLimit {
  /** The points of a full bucket. */
  maximum: number;
  /** Points per second. */
  restoreRate: number;
}

/** A stored key with the client, the account and the organization that it belongs to. */
export interface StoredApiKey {
  keyId: string;
  /** SHA-256 of the whole key. */
  keyHash: Buffer;
  /** The time from which the key is rejected. Null if the key does not expire. */
  expiresAt: Date | null;
  /** Null if the key is not revoked. */
  revokedAt: Date | null;
  /** The value of the client id header. */
  clientId: string;
  accountId: string;
  /** The value of the organization id header. */
  organizationId: string;
  interfaceName: InterfaceName;
  /** The version that the client pins. It applies to requests that do not name a version. */
  schemaVersion: string;
  costLimit: CostLimit;
  abilities: readonly Ability[];
  /** From which the key is accepted. Null: from any address. */
  addresses: AddressRanges | null;
  /** The account leaves for another cell and cannot be changed, or is at home in one and cannot be read either. Null: neither. */
  away?: 'FROZEN' | 'FOREIGN' | null;
}
