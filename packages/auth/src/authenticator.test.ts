import { describe, expect, test, vi } from 'vitest';
import { generateApiKey } from './api-key.ts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';
import type { StoredApiKey } from './stored-api-key.ts';

const generated = generateApiKey('lender');
const stored: StoredApiKey = {
  keyId: generated.keyId,
  keyHash: generated.keyHash,
  expiresAt: null,
  revokedAt: null,
  clientId: 'client-1',
  accountId: '8',
  organizationId: 'org-1',
  interfaceName: 'lender',
  schemaVersion: '2026-11-01',
};
const credentials = { clientId: 'client-1', apiKey: generated.apiKey, organizationId: 'org-1' };
const unauthenticated = { kind: 'unauthenticated' };

function setUp(key: StoredApiKey | null = stored, options: { cacheSize?: number } = {}) {
  const clock = { ms: 0 };
  const findApiKey = vi.fn<AuthenticatorOptions['findApiKey']>(async (keyId) => (key?.keyId === keyId ? key : null));
  const recordUse = vi.fn<(keyId: string, at: Date) => void>();
  const authenticator = createAuthenticator({
    interfaceName: 'lender',
    findApiKey,
    recordUse,
    now: () => new Date(Date.UTC(2026, 10, 1) + clock.ms),
    monotonicMs: () => clock.ms,
    ...options,
  });
  return { authenticator, clock, findApiKey, recordUse };
}

describe('valid credentials', () => {
  test('return authenticated with the client', async () => {
    expect(await setUp().authenticator.authenticate(credentials)).toEqual({
      kind: 'authenticated',
      client: {
        clientId: 'client-1',
        accountId: '8',
        interfaceName: 'lender',
        schemaVersion: '2026-11-01',
      },
    });
  });

  test('return authenticated until the key expires', async () => {
    const { authenticator, clock } = setUp({ ...stored, expiresAt: new Date(Date.UTC(2026, 10, 1) + 500) });
    expect((await authenticator.authenticate(credentials)).kind).toBe('authenticated');
    clock.ms = 500; // still cached
    expect(await authenticator.authenticate(credentials)).toEqual(unauthenticated);
  });
});

describe('invalid credentials', () => {
  const sameIdOtherSecret = { ...stored, keyHash: generateApiKey('lender').keyHash };
  test.each([
    ['no credentials', stored, null],
    ['a malformed key', stored, { ...credentials, apiKey: 'key' }],
    ['an unknown key id', null, credentials],
    ['another secret', sameIdOtherSecret, credentials],
    ['another client id', stored, { ...credentials, clientId: 'client-2' }],
    ['another organization', stored, { ...credentials, organizationId: 'org-2' }],
    ['a revoked key', { ...stored, revokedAt: new Date('2026-10-31') }, credentials],
    ['a key with a revocation time in the future', { ...stored, revokedAt: new Date('2026-11-02') }, credentials],
    ['a key stored for the other interface', { ...stored, interfaceName: 'partner' as const }, credentials],
  ])('return the same unauthenticated result for %s', async (_, key, presented) => {
    expect(await setUp(key).authenticator.authenticate(presented)).toEqual(unauthenticated);
  });

  test('return wrong_interface for a key of the other interface, without a store lookup', async () => {
    const { authenticator, findApiKey } = setUp();
    const { apiKey } = generateApiKey('partner');
    expect(await authenticator.authenticate({ ...credentials, apiKey })).toEqual({ kind: 'wrong_interface' });
    expect(findApiKey).not.toHaveBeenCalled();
    expect(await authenticator.authenticate({ ...credentials, apiKey: `${apiKey.slice(0, -1)}!` })).toEqual(
      unauthenticated,
    );
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

  test('rejects a longer time with a RangeError', () => {
    expect(() => createAuthenticator({ interfaceName: 'lender', findApiKey: async () => null, cacheMs: 901 })).toThrow(
      RangeError,
    );
  });

  test('does not keep unknown key ids', async () => {
    const { authenticator, findApiKey } = setUp(null);
    await authenticator.authenticate(credentials);
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('evicts the oldest key when it is full', async () => {
    const keys = new Map(Array.from({ length: 3 }, () => generateApiKey('lender')).map((key) => [key.keyId, key]));
    const findApiKey = vi.fn<AuthenticatorOptions['findApiKey']>(async (keyId) => ({
      ...stored,
      ...keys.get(keyId),
      keyId,
    }));
    const authenticator = createAuthenticator({
      interfaceName: 'lender',
      findApiKey,
      monotonicMs: () => 0,
      cacheSize: 2,
    });
    const [first, second, third] = [...keys.values()];
    for (const key of [first, second, third, third, second, first]) {
      const { kind } = await authenticator.authenticate({ ...credentials, apiKey: key?.apiKey ?? '' });
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
    expect(await late).toEqual(unauthenticated);
    pending[0]?.(stored); // started before the revocation
    expect((await Promise.all(early)).map(({ kind }) => kind)).toEqual(['authenticated', 'authenticated']);
    expect(await authenticator.authenticate(credentials)).toEqual(unauthenticated);
    expect(findApiKey).toHaveBeenCalledTimes(2);
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

describe('the use of a key', () => {
  test('is recorded when a key is accepted, at most once a minute', async () => {
    const { authenticator, clock, recordUse } = setUp();
    await authenticator.authenticate({ ...credentials, organizationId: 'org-2' });
    expect(recordUse).not.toHaveBeenCalled();
    for (clock.ms of [0, 30_000, 59_999, 60_000]) await authenticator.authenticate(credentials);
    expect(recordUse.mock.calls).toEqual([
      [generated.keyId, new Date('2026-11-01T00:00:00.000Z')],
      [generated.keyId, new Date('2026-11-01T00:01:00.000Z')],
    ]);
  });
});
