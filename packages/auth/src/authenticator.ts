import { createHash, timingSafeEqual } from 'node:crypto';
import { hashApiKey, parseApiKey } from './api-key.ts';
import type { Credentials } from './credentials.ts';
import type { InterfaceName } from './interface-name.ts';
import { createKeyCache } from './key-cache.ts';
import type { StoredApiKey } from './stored-api-key.ts';

export type AuthenticatedClient = Pick<StoredApiKey, 'clientId' | 'accountId' | 'interfaceName' | 'schemaVersion'>;

export type AuthenticationOutcome =
  | { outcome: 'authenticated'; client: AuthenticatedClient }
  /** Missing, malformed, unknown, wrong, expired or revoked: the answer must not tell which. */
  | { outcome: 'unauthenticated' }
  /** A well-formed key of the other interface. Told without reading any store, so it says nothing about the key's validity. */
  | { outcome: 'wrong_interface' };

export interface AuthenticatorOptions {
  interfaceName: InterfaceName;
  /** Null when there is no such key. A rejection is passed on to the caller of `authenticate`. */
  findApiKey: (keyId: string) => Promise<StoredApiKey | null>;
  /** Called after a key was accepted, at most once a minute for each key. Must not throw. */
  recordUse?: (keyId: string, at: Date) => void;
  now?: () => Date;
  /** Milliseconds that only grow: ages are measured with it, so that a stepped wall clock cannot prolong a cached key. */
  monotonicMs?: () => number;
  /** How long a key that was found counts without asking again. At most 900: a revocation must hold within a second. */
  cacheMs?: number;
  /** How many keys are remembered. */
  cacheSize?: number;
}

export interface Authenticator {
  /** @param credentials null when the headers held no usable credentials. */
  authenticate(credentials: Credentials | null): Promise<AuthenticationOutcome>;
}

const longestCacheMs = 900;
const useRecordedEveryMs = 60_000;

/** Compared against when there is no stored key, so that an unknown key id takes the same steps as a wrong secret. */
const nobody = { keyHash: Buffer.alloc(32), clientId: '', organizationId: '' };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { interfaceName, findApiKey, recordUse, cacheMs = longestCacheMs, cacheSize = 10_000 } = options;
  const now = options.now ?? (() => new Date());
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  if (cacheMs > longestCacheMs) throw new RangeError(`cacheMs is at most ${longestCacheMs}, got ${cacheMs}`);

  const keys = createKeyCache({ find: findApiKey, monotonicMs, maxAgeMs: cacheMs, maxSize: cacheSize });
  const usedAtMs = new Map<string, number>();

  function noteUse(keyId: string): void {
    if (recordUse === undefined) return;
    const nowMs = monotonicMs();
    const lastMs = usedAtMs.get(keyId);
    if (lastMs !== undefined && nowMs - lastMs < useRecordedEveryMs) return;
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
      if (!credentials || !parsed) return { outcome: 'unauthenticated' };
      if (parsed.interfaceName !== interfaceName) return { outcome: 'wrong_interface' };

      const stored = await keys.find(parsed.keyId);
      if (!matches(credentials, stored) || !isLive(stored, now())) return { outcome: 'unauthenticated' };
      if (stored.interfaceName !== interfaceName) return { outcome: 'unauthenticated' };

      noteUse(parsed.keyId);
      const { clientId, accountId, schemaVersion } = stored;
      return {
        outcome: 'authenticated',
        client: { clientId, accountId, interfaceName, schemaVersion },
      };
    },
  };
}

/** All three are always compared, each in constant time. */
function matches(credentials: Credentials, stored: StoredApiKey | null): stored is StoredApiKey {
  const expected = stored ?? nobody;
  const sameKey = timingSafeEqual(hashApiKey(credentials.apiKey), expected.keyHash);
  const sameClient = sameText(credentials.clientId, expected.clientId);
  const sameOrganization = sameText(credentials.organizationId, expected.organizationId);
  return stored !== null && sameKey && sameClient && sameOrganization;
}

/** Hashed first, because timingSafeEqual throws on unequal length. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

/** A key with a revocation date is refused even when that lies ahead of this machine's clock: the clocks may differ. */
function isLive(stored: StoredApiKey, at: Date): boolean {
  return stored.revokedAt === null && (stored.expiresAt === null || at < stored.expiresAt);
}
