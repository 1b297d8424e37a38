import { usualAbilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { describe, expect, test, vi } from 'vitest';
import { readRanges } from './address-ranges.ts';
import { generateApiKey } from './api-key.ts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';
import type { Credentials } from './credentials.ts';
import type { StoredApiKey } from './stored-api-key.ts';

const generated = generateApiKey(testService, 'supplier');
const stored: StoredApiKey = {
  keyId: generated.keyId,
  keyHash: generated.keyHash,
  expiresAt: null,
  revokedAt: null,
  clientId: 'client-1',
  accountId: '8',
  organizationId: 'org-1',
  interfaceName: 'supplier',
  schemaVersion: '2026-11-01',
  costLimit: { maximum: 2_000, restoreRate: 200 },
  abilities: usualAbilities,
  addresses: null,
};
const credentials = { clientId: 'client-1', apiKey: generated.apiKey, organizationId: 'org-1' };
const address = '203.0.113.7';

const unknownKey = () => ({ ...credentials, apiKey: generateApiKey(testService, 'supplier').apiKey });
const repeat = async (count: number, work: () => Promise<unknown>) => {
  for (let index = 0; index < count; index += 1) await work();
};

function setUp(key: StoredApiKey | null = stored, options: { cacheSize?: number } = {}) {
  const clock = { ms: 0 };
  const findApiKey = vi.fn<AuthenticatorOptions['findApiKey']>(async (keyId) => (key?.keyId === keyId ? key : null));
  const created = createAuthenticator({
    service: testService,
    interfaceName: 'supplier',
    findApiKey,
    now: () => new Date(Date.UTC(2026, 10, 1) + clock.ms),
    monotonicMs: () => clock.ms,
    ...options,
  });
  const authenticator = {
    authenticate: (presented: Credentials | null, from = address) => created.authenticate(presented, from),
    /** The reason of the refusal. */
    refusal: async (presented: Credentials | null, from = address) => {
      const result = await created.authenticate(presented, from);
      return result.kind === 'authenticated' ? 'none' : result.refusal.reason;
    },
  };
  return { authenticator, clock, findApiKey };
}

describe('valid credentials', () => {
  test('return authenticated with the client', async () => {
    expect(await setUp().authenticator.authenticate(credentials)).toEqual({
      kind: 'authenticated',
      client: {
        clientId: 'client-1',
        accountId: '8',
        interfaceName: 'supplier',
        schemaVersion: '2026-11-01',
        costLimit: { maximum: 2_000, restoreRate: 200 },
        away: null,
      },
      keyId: generated.keyId,
      abilities: usualAbilities,
    });
  });

  test('return authenticated until the key expires', async () => {
    const { authenticator, clock } = setUp({ ...stored, expiresAt: new Date(Date.UTC(2026, 10, 1) + 500) });
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
    clock.ms = 500; // still cached
    expect(await authenticator.refusal(credentials)).toBe('expired');
  });
});

describe('invalid credentials', () => {
  const sameIdOtherSecret = { ...stored, keyHash: generateApiKey(testService, 'supplier').keyHash };
  const refusedKeys: [string, StoredApiKey | null, Credentials][] = [
    ['unknown', null, credentials],
    ['wrong_key', sameIdOtherSecret, credentials],
    ['wrong_client', stored, { ...credentials, clientId: 'client-2' }],
    ['wrong_organization', stored, { ...credentials, organizationId: 'org-2' }],
    ['revoked', { ...stored, revokedAt: new Date('2026-10-31') }, credentials],
    ['revoked', { ...stored, revokedAt: new Date('2026-11-02') }, credentials],
    ['expired', { ...stored, expiresAt: new Date('2026-11-01') }, credentials],
    ['unknown', { ...stored, interfaceName: 'customer' }, credentials],
  ];

  test.each(refusedKeys)(
    'are refused as %s, with the key and its client, after one lookup each time',
    async (reason, key, presented) => {
      const { authenticator, findApiKey } = setUp(key);
      for (let count = 1; count <= 3; count += 1) {
        expect(await authenticator.authenticate(presented)).toEqual({
          kind: 'unauthenticated',
          refusal: { reason, keyId: generated.keyId, clientId: key?.clientId ?? null },
        });
        expect(findApiKey).toHaveBeenCalledTimes(count);
      }
    },
  );

  test('are refused although the cached key is the same', async () => {
    const { authenticator, clock } = setUp();
    await authenticator.authenticate(credentials);
    const refusals = [
      { ...credentials, clientId: 'client-2' },
      { ...credentials, organizationId: 'org-2' },
      { ...credentials, apiKey: `${generated.apiKey.slice(0, -1)}!` },
      { ...credentials, apiKey: `${generated.apiKey}!` },
    ].map((presented) => authenticator.refusal(presented));
    expect(clock.ms).toBe(0);
    expect(await Promise.all(refusals)).toEqual(['wrong_client', 'wrong_organization', 'malformed', 'malformed']);
  });

  test('cost one lookup also while a valid key with the same id is cached', async () => {
    const { authenticator, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    for (const presented of [
      { ...credentials, clientId: 'client-2' },
      { ...credentials, organizationId: 'org-2' },
    ]) {
      findApiKey.mockClear();
      await authenticator.authenticate(presented);
      expect(findApiKey.mock.calls).toEqual([[generated.keyId, false]]);
    }
  });

  test.each([
    ['missing', null],
    ['malformed', { ...credentials, apiKey: 'key' }],
    ['missing', { ...credentials, apiKey: 'a b' }],
    ['missing', { ...credentials, organizationId: 'org-1, org-1' }],
  ])('are refused as %s without a lookup', async (reason, presented) => {
    const { authenticator, findApiKey } = setUp();
    expect(await authenticator.authenticate(presented)).toEqual({
      kind: 'unauthenticated',
      refusal: { reason, keyId: null, clientId: null },
    });
    expect(findApiKey).not.toHaveBeenCalled();
  });

  test('return wrong_interface for a key of the other interface, without a store lookup', async () => {
    const { authenticator, findApiKey } = setUp();
    const { apiKey, keyId } = generateApiKey(testService, 'customer');
    expect(await authenticator.authenticate({ ...credentials, apiKey })).toEqual({
      kind: 'wrong_interface',
      refusal: { reason: 'wrong_interface', keyId, clientId: null },
    });
    expect(findApiKey).not.toHaveBeenCalled();
    expect(await authenticator.refusal({ ...credentials, apiKey: `${apiKey.slice(0, -1)}!` })).toBe('malformed');
  });
});

describe('requests without a valid key', () => {
  test.each([
    ['unknown keys', unknownKey],
    ['no credentials', () => null],
    ['malformed keys', () => ({ ...credentials, apiKey: 'key' })],
    ['keys of the other interface', () => ({ ...credentials, apiKey: generateApiKey(testService, 'customer').apiKey })],
  ])('are limited to 50 per second and address: %s', async (_, present) => {
    const { authenticator, clock, findApiKey } = setUp();
    await repeat(50, async () => authenticator.authenticate(present()));
    findApiKey.mockClear();
    expect((await authenticator.authenticate(present())).kind).toBe('rate_limited');
    expect(findApiKey).not.toHaveBeenCalled();
    expect(await authenticator.refusal(present(), 'another address')).not.toBe('rate_limited');
    clock.ms = 1_000;
    expect(await authenticator.refusal(present())).not.toBe('rate_limited');
  });

  test('do not limit a client at the same address whose key is known', async () => {
    const { authenticator, clock } = setUp();
    await authenticator.authenticate(credentials);
    await repeat(60, async () => authenticator.authenticate(unknownKey()));
    expect(await authenticator.refusal(unknownKey())).toBe('rate_limited');
    expect(await authenticator.refusal(credentials)).toBe('none');
    clock.ms = 900; // no longer cached
    await repeat(60, async () => authenticator.authenticate(unknownKey()));
    expect(await authenticator.refusal(credentials)).toBe('none');
  });

  test('limit a new client at the same address only until a second has passed', async () => {
    const { authenticator, clock } = setUp();
    await repeat(60, async () => authenticator.authenticate(unknownKey()));
    expect(await authenticator.refusal(credentials)).toBe('rate_limited');
    clock.ms = 1_000;
    expect(await authenticator.refusal(credentials)).toBe('none');
  });

  test('valid requests and failed lookups do not count', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    findApiKey.mockRejectedValue(new Error('unavailable'));
    await repeat(60, () => expect(authenticator.authenticate(unknownKey())).rejects.toThrow('unavailable'));
    findApiKey.mockResolvedValue(stored);
    await repeat(60, async () => {
      clock.ms += 1;
      expect(await authenticator.refusal(credentials, 'x')).toBe('none');
    });
  });

  test('do not delay the lookups of known keys', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenLastCalledWith(generated.keyId, false);
    clock.ms = 900;
    // The connections for unproven keys are all taken, including by wrong credentials for this key.
    findApiKey.mockImplementation((_keyId, isProven) => (isProven ? Promise.resolve(stored) : new Promise(() => {})));
    void authenticator.authenticate({ ...credentials, clientId: 'client-2' });
    expect(await authenticator.refusal(credentials)).toBe('none');
    expect(findApiKey).toHaveBeenLastCalledWith(generated.keyId, true);
  });

  test('include those with a key that was revoked or has expired since it was last valid', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    findApiKey.mockResolvedValue({ ...stored, revokedAt: new Date('2026-10-31') });
    clock.ms = 900;
    expect(await authenticator.refusal(credentials)).toBe('revoked');
    expect(findApiKey).toHaveBeenLastCalledWith(generated.keyId, true);
    await repeat(50, async () => authenticator.authenticate(credentials));
    expect(findApiKey).toHaveBeenLastCalledWith(generated.keyId, false);
    expect(await authenticator.refusal(credentials)).toBe('rate_limited');
  });
});

describe('the cache', () => {
  test('keeps a key for 900 ms from the start of the lookup', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    clock.ms = 899;
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(1);
    clock.ms = 900;
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('keeps no key of an account that is frozen or at home in another cell', async () => {
    const { authenticator, findApiKey } = setUp({ ...stored, away: 'FROZEN' });
    for (let count = 1; count <= 3; count += 1) {
      await authenticator.authenticate(credentials);
      expect(findApiKey).toHaveBeenCalledTimes(count);
    }
    expect(findApiKey).toHaveBeenLastCalledWith(generated.keyId, true);
  });

  test('rejects a longer time with a RangeError', () => {
    expect(() =>
      createAuthenticator({
        service: testService,
        interfaceName: 'supplier',
        findApiKey: async () => null,
        cacheMs: 901,
      }),
    ).toThrow(RangeError);
  });

  test('does not keep unknown key ids', async () => {
    const { authenticator, findApiKey } = setUp(null);
    await authenticator.authenticate(credentials);
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('evicts the oldest key when it is full', async () => {
    const keys = new Map(
      Array.from({ length: 3 }, () => generateApiKey(testService, 'supplier')).map((key) => [key.keyId, key]),
    );
    const findApiKey = vi.fn<AuthenticatorOptions['findApiKey']>(async (keyId) => ({
      ...stored,
      ...keys.get(keyId),
      keyId,
    }));
    const authenticator = createAuthenticator({
      service: testService,
      interfaceName: 'supplier',
      findApiKey,
      monotonicMs: () => 0,
      cacheSize: 2,
    });
    const [first, second, third] = [...keys.values()];
    for (const key of [first, second, third, third, second, first]) {
      const { kind } = await authenticator.authenticate({ ...credentials, apiKey: key?.apiKey ?? '' }, address);
      expect(kind).toBe('authenticated');
    }
    expect(findApiKey).toHaveBeenCalledTimes(4); // the first key was evicted
  });

  test('shares one lookup between concurrent requests unless the lookup is too old', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    const pending: ((key: StoredApiKey | null) => void)[] = [];
    findApiKey.mockImplementation(() => new Promise((resolve) => pending.push(resolve)));
    const early = [authenticator.authenticate(credentials), authenticator.authenticate(credentials)];
    clock.ms = 900;
    const late = authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);

    pending[1]?.({ ...stored, revokedAt: new Date() });
    expect((await late).kind).toBe('unauthenticated');
    pending[0]?.(stored); // started before the revocation
    for (const result of early) expect((await result).kind).toBe('authenticated');
    const again = authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(3); // the older result has not replaced the newer one
    pending[2]?.({ ...stored, revokedAt: new Date() });
    expect((await again).kind).toBe('unauthenticated');
  });

  test('authenticates only cached keys while the store is unavailable', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    findApiKey.mockRejectedValue(new Error('unavailable'));
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
    clock.ms = 900;
    await expect(authenticator.authenticate(credentials)).rejects.toThrow('unavailable');
    findApiKey.mockResolvedValue(stored);
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
  });
});

describe('a key with addresses', () => {
  const bound = { ...stored, addresses: readRanges(['203.0.113.0/28', '2001:db8::/32']) };

  test.each([address, '2001:db8::1'])('is accepted from %s, even when it is cached', async (from) => {
    const { authenticator, findApiKey } = setUp(bound);
    for (let count = 0; count < 2; count += 1)
      expect((await authenticator.authenticate(credentials, from)).kind).toBe('authenticated');
    expect(findApiKey).toHaveBeenCalledTimes(1);
  });

  test.each(['203.0.113.16', '2001:db9::1', 'unknown'])('is refused from %s, even when it is cached', async (from) => {
    const { authenticator } = setUp(bound);
    const refusal = { reason: 'wrong_address', keyId: generated.keyId, clientId: 'client-1' };
    expect(await authenticator.authenticate(credentials, from)).toEqual({ kind: 'unauthenticated', refusal });
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
    expect(await authenticator.authenticate(credentials, from)).toEqual({ kind: 'unauthenticated', refusal });
  });

  test('names no address to who does not have the whole key', async () => {
    const { authenticator } = setUp(bound);
    expect(await authenticator.refusal({ ...credentials, clientId: 'client-2' }, '192.0.2.1')).toBe('wrong_client');
  });

  test('counts refused requests of an address as those without a valid key', async () => {
    const { authenticator } = setUp(bound);
    await authenticator.authenticate(credentials);
    await repeat(50, async () => authenticator.authenticate(credentials, '192.0.2.1'));
    expect(await authenticator.refusal(credentials, '192.0.2.1')).toBe('rate_limited');
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
  });
});
