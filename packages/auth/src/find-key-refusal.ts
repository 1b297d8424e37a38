import { hash, timingSafeEqual } from 'node:crypto';
import type { InterfaceName } from '@deedwire/core';
import { hashApiKey } from './api-key.ts';
import type { Credentials } from './credentials.ts';
import type { StoredApiKey } from './stored-api-key.ts';

/** Why a stored key does not authenticate the credentials. For the log and metrics; the response must not say it. */
export type KeyRefusal =
  | 'unknown'
  | 'wrong_key'
  | 'wrong_client'
  | 'wrong_organization'
  | 'revoked'
  | 'expired'
  | 'wrong_address';

/** The hashes of credentials. Hashes have equal lengths, which timingSafeEqual needs. */
export interface HashedCredentials {
  apiKey: Buffer;
  clientId: Buffer;
  organizationId: Buffer;
}

/** Compared with when the key does not exist, so that an unknown key id takes the same steps as a wrong secret. */
export const noKey = { keyHash: Buffer.alloc(32), clientId: '', organizationId: '' };

export function hashCredentials({ apiKey, clientId, organizationId }: Credentials): HashedCredentials {
  return { apiKey: hashApiKey(apiKey), clientId: hashText(clientId), organizationId: hashText(organizationId) };
}

/** Returns null if the key authenticates the credentials. Always compares all three of them, each in constant time. */
export function findKeyRefusal(
  credentials: HashedCredentials,
  stored: StoredApiKey | null,
  interfaceName: InterfaceName,
  { at, address }: { at: Date; address: string },
): KeyRefusal | null {
  const expected = stored ?? noKey;
  const sameKey = timingSafeEqual(credentials.apiKey, expected.keyHash);
  const sameClient = timingSafeEqual(credentials.clientId, hashText(expected.clientId));
  const sameOrganization = timingSafeEqual(credentials.organizationId, hashText(expected.organizationId));
  if (stored === null || stored.interfaceName !== interfaceName) return 'unknown';
  if (!sameKey) return 'wrong_key';
  if (!sameClient) return 'wrong_client';
  if (!sameOrganization) return 'wrong_organization';
  return findEnd(stored, at) ?? (isAllowedFrom(stored, address) ? null : 'wrong_address');
}

export function isAllowedFrom({ addresses }: StoredApiKey, address: string): boolean {
  return addresses === null || addresses.includes(address);
}

/** Null for a live key. */
export function findEnd({ revokedAt, expiresAt }: StoredApiKey, at: Date): 'revoked' | 'expired' | null {
  // A time of revocation in the future counts too, because the clocks of two machines can differ.
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && at >= expiresAt ? 'expired' : null;
}

function hashText(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
