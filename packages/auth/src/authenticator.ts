import { timingSafeEqual } from 'node:crypto';
import type { Ability, InterfaceName, Service } from '@deedwire/core';
import { addressBlock } from './address-block.ts';
import { createAddressLimiter } from './address-limiter.ts';
import { hashAsText, parseApiKey, peekKeyId } from './api-key.ts';
import { areWellFormed, type Credentials } from './credentials.ts';
import { findEnd, findKeyRefusal, hashCredentials, isAllowedFrom, type KeyRefusal, noKey } from './find-key-refusal.ts';
import { createKeyCache } from './key-cache.ts';
import type { StoredApiKey } from './stored-api-key.ts';

export type AuthenticatedClient = Pick<
  StoredApiKey,
  'clientId' | 'accountId' | 'interfaceName' | 'schemaVersion' | 'costLimit' | 'away'
>;

/** For the log and metrics. The response must not contain it. */
export interface AuthenticationRefusal {
  /**
   * `missing`: the headers contain no well-formed credentials. `malformed`: the key has a wrong format or checksum. Of requests to the
   * portal: `cross_site`: another site has sent it; `other_session`: its page shows another session than that of the cookie.
   */
  reason: KeyRefusal | 'missing' | 'malformed' | 'wrong_interface' | 'rate_limited' | 'cross_site' | 'other_session';
  /** The key id in the credentials. Null if they contain no well-formed key. */
  keyId: string | null;
  /** The client that the key belongs to. Null if the key was not found or not looked up. */
  clientId: string | null;
  /** Of `cross_site`: the host, site or origin of the request, and what the portal expects. */
  foreign?: Readonly<Record<string, string | undefined>> | undefined;
}

export type AuthenticationResult =
  | { kind: 'authenticated'; client: AuthenticatedClient; keyId: string; abilities: readonly Ability[] }
  /** The credentials are missing, malformed, unknown, wrong, expired or revoked. The response must not say which. */
  | { kind: 'unauthenticated'; refusal: AuthenticationRefusal }
  /** A well-formed key of another interface. No store is read, so the result does not reveal if the key is valid. */
  | { kind: 'wrong_interface'; refusal: AuthenticationRefusal }
  /** The address has sent too many requests without a valid key. The credentials were not checked. */
  | { kind: 'rate_limited'; refusal: AuthenticationRefusal };

export interface AuthenticatorOptions {
  service: Service;
  interfaceName: InterfaceName;
  /**
   * Returns null if the key does not exist. If it rejects, `authenticate` rejects with the same error.
   *
   * @param isProven the request contains a key that was valid when it was read last. Anyone can cause other lookups, so
   *   they must not be able to delay the lookups of proven keys.
   */
  findApiKey: (keyId: string, isProven: boolean) => Promise<StoredApiKey | null>;
  now?: () => Date;
  /** A monotonic clock in milliseconds. It measures ages, so that setting back the clock cannot extend caching. */
  monotonicMs?: () => number;
  /** How long a key is cached. Defaults to 900, the maximum, so that a revocation takes effect within a second. */
  cacheMs?: number;
  /** The maximum number of cached keys and of limited addresses. Defaults to 10,000. */
  cacheSize?: number;
}

export interface Authenticator {
  /**
   * Requests without a valid key are limited per address: 50 per second.
   *
   * @param credentials null if the headers do not contain all of them.
   * @param address of the client
   */
  authenticate(credentials: Credentials | null, address: string): AuthenticationResult | Promise<AuthenticationResult>;
}

type Known = { key: StoredApiKey; isFresh: boolean };

export const maxCacheMs = 900;
export const requestsWithoutKey = { atOnce: 50, perSecond: 50 };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { service, interfaceName, findApiKey, cacheMs = maxCacheMs, cacheSize = 10_000 } = options;
  const now = options.now ?? (() => new Date());
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  if (cacheMs > maxCacheMs) throw new RangeError(`cacheMs is ${cacheMs}. The maximum is ${maxCacheMs}.`);

  const keys = createKeyCache({ find: findApiKey, monotonicMs, maxAgeMs: cacheMs, maxSize: cacheSize });
  const limiter = createAddressLimiter({ ...requestsWithoutKey, monotonicMs, maxSize: cacheSize });

  function accept({
    keyId,
    abilities,
    clientId,
    accountId,
    schemaVersion,
    costLimit,
    away,
  }: StoredApiKey): AuthenticationResult {
    const client = { clientId, accountId, interfaceName, schemaVersion, costLimit, away: away ?? null };
    return { kind: 'authenticated', client, keyId, abilities };
  }

  const given = Buffer.alloc(noKey.keyHash.length);

  /**
   * Finds the fresh cached key of the credentials with one hash instead of five. Only who has the key can learn from its time whether
   * the other two match. Only a match is answered from the cache, so that a wrong key takes as long as an unknown one.
   */
  function findCached({ apiKey, clientId, organizationId }: Credentials, address: string): StoredApiKey | null {
    const known = keys.peek(peekKeyId(apiKey));
    given.write(hashAsText(apiKey), 'latin1');
    const isSame = timingSafeEqual(given, known?.key.keyHash ?? noKey.keyHash);
    if (!isUsable(known) || !isSame) return null;
    const { key } = known;
    if (key.clientId !== clientId || key.organizationId !== organizationId) return null;
    if (key.interfaceName !== interfaceName || findEnd(key, now()) !== null) return null;
    return isAllowedFrom(key, address) ? key : null;
  }

  return {
    authenticate(credentials, address) {
      const cached = credentials && findCached(credentials, address);
      return cached ? accept(cached) : check(credentials && areWellFormed(credentials) ? credentials : null, address);
    },
  };

  async function check(credentials: Credentials | null, address: string): Promise<AuthenticationResult> {
    const named = credentials && parseApiKey(service, credentials.apiKey);
    const parsed = named && Object.hasOwn(service.interfaces, named.interfaceName) ? named : null;
    const keyId = parsed?.keyId ?? null;
    const block = addressBlock(address);
    if (!credentials || !parsed || keyId === null || parsed.interfaceName !== interfaceName) {
      if (!limiter.take(block)) return refuseOffline('rate_limited', 'rate_limited', keyId);
      if (!credentials) return refuseOffline('unauthenticated', 'missing', keyId);
      if (!parsed) return refuseOffline('unauthenticated', 'malformed', keyId);
      return refuseOffline('wrong_interface', 'wrong_interface', keyId);
    }

    const hashed = hashCredentials(credentials);
    const refusalOf = (key: StoredApiKey | null) => findKeyRefusal(hashed, key, interfaceName, { at: now(), address });
    const isProven = refusalOf(keys.peek(keyId)?.key ?? null) === null;
    if (!isProven && !limiter.take(block)) return refuseOffline('rate_limited', 'rate_limited', keyId);
    const refund = (): void => {
      if (!isProven) limiter.refund(block);
    };
    const stored = await keys.lookUp(keyId, isProven).catch((error: unknown) => {
      refund();
      throw error;
    });
    const reason = refusalOf(stored);
    if (stored === null || reason !== null) {
      const clientId = stored?.clientId ?? null;
      return { kind: 'unauthenticated', refusal: { reason: reason ?? 'unknown', keyId, clientId } };
    }
    refund();
    return accept(stored);
  }
}

/** An account that is frozen or at home in another cell can return, or leave, at any moment: its keys are read for each request. */
function isUsable(known: Known | null): known is Known {
  return known !== null && known.isFresh && !known.key.away;
}

/** Without a lookup: nothing can be found out about any key. */
function refuseOffline(
  kind: 'unauthenticated' | 'wrong_interface' | 'rate_limited',
  reason: AuthenticationRefusal['reason'],
  keyId: string | null,
): AuthenticationResult {
  return { kind, refusal: { reason, keyId, clientId: null } };
}
