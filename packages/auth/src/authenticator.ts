import { createHash, timingSafeEqual } from 'node:crypto';
import { hashApiKey, parseApiKey } from './api-key.ts';
import type { Credentials } from './credentials.ts';
import type { InterfaceName } from './interface-name.ts';
import { createKeyCache } from './key-cache.ts';
import type { StoredApiKey } from './stored-api-key.ts';

export type AuthenticatedClient = Pick<StoredApiKey, 'clientId' | 'accountId' | 'interfaceName' | 'schemaVersion'>;

export type AuthenticationResult =
  | { kind: 'authenticated'; client: AuthenticatedClient }
  /** The credentials are missing, malformed, unknown, wrong, expired or revoked. The response must not say which. */
  | { kind: 'unauthenticated' }
  /** A well-formed key of the other interface. No store is read, so the result does not reveal if the key is valid. */
  | { kind: 'wrong_interface' };

export interface AuthenticatorOptions {
  interfaceName: InterfaceName;
  /** Returns null if the key does not exist. If it rejects, `authenticate` rejects with the same error. */
  findApiKey: (keyId: string) => Promise<StoredApiKey | null>;
  /** Called after a key is accepted, at most once a minute per key. Must not throw. */
  recordUse?: (keyId: string, at: Date) => void;
  now?: () => Date;
  /** A monotonic clock in milliseconds. It measures ages, so that setting back the clock cannot extend caching. */
  monotonicMs?: () => number;
  /** How long a key is cached. Defaults to 900, the maximum, so that a revocation takes effect within a second. */
  cacheMs?: number;
  /** The maximum number of cached keys. Defaults to 10,000. */
  cacheSize?: number;
}

export interface Authenticator {
  /** @param credentials null if the headers contain no well-formed credentials. */
  authenticate(credentials: Credentials | null): Promise<AuthenticationResult>;
}

const maxCacheMs = 900;
const recordUseEveryMs = 60_000;

/** Compared with when the key does not exist, so that an unknown key id takes the same steps as a wrong secret. */
const noKey = { keyHash: Buffer.alloc(32), clientId: '', organizationId: '' };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { interfaceName, findApiKey, recordUse, cacheMs = maxCacheMs, cacheSize = 10_000 } = options;
  const now = options.now ?? (() => new Date());
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  if (cacheMs > maxCacheMs) throw new RangeError(`cacheMs is ${cacheMs}. The maximum is ${maxCacheMs}.`);

  const keys = createKeyCache({ find: findApiKey, monotonicMs, maxAgeMs: cacheMs, maxSize: cacheSize });
  const usedAtMs = new Map<string, number>();

  function noteUse(keyId: string): void {
    if (recordUse === undefined) return;
    const nowMs = monotonicMs();
    const lastMs = usedAtMs.get(keyId);
    if (lastMs !== undefined && nowMs - lastMs < recordUseEveryMs) return;
    usedAtMs.delete(keyId);
    for (const oldest of usedAtMs.keys()) {
      if (usedAtMs.size < cacheSize) break;
      usedAtMs.delete(oldest);
    }
    usedAtMs.set(keyId, nowMs);
    recordUse(keyId, now());
  }

  return {
    async authenticate(credentials) {
      const parsed = credentials && parseApiKey(credentials.apiKey);
      if (!credentials || !parsed) return { kind: 'unauthenticated' };
      if (parsed.interfaceName !== interfaceName) return { kind: 'wrong_interface' };

      const stored = await keys.find(parsed.keyId);
      if (!matches(credentials, stored) || !isLive(stored, now())) return { kind: 'unauthenticated' };
      if (stored.interfaceName !== interfaceName) return { kind: 'unauthenticated' };

      noteUse(parsed.keyId);
      const { clientId, accountId, schemaVersion } = stored;
      return {
        kind: 'authenticated',
        client: { clientId, accountId, interfaceName, schemaVersion },
      };
    },
  };
}

/** Always compares all three credentials, each in constant time. */
function matches(credentials: Credentials, stored: StoredApiKey | null): stored is StoredApiKey {
  const expected = stored ?? noKey;
  const sameKey = timingSafeEqual(hashApiKey(credentials.apiKey), expected.keyHash);
  const sameClient = sameText(credentials.clientId, expected.clientId);
  const sameOrganization = sameText(credentials.organizationId, expected.organizationId);
  return stored !== null && sameKey && sameClient && sameOrganization;
}

/** The texts are hashed first, because timingSafeEqual throws for unequal lengths. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

/** A key with a revocation time in the future is also rejected, because the clocks of two machines can differ. */
function isLive(stored: StoredApiKey, at: Date): boolean {
  return stored.revokedAt === null && (stored.expiresAt === null || at < stored.expiresAt);
}
