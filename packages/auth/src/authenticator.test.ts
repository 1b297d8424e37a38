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
const unauthenticated = { outcome: 'unauthenticated' };

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

describe('who is let in', () => {
  test('the right key, client and organization', async () => {
    expect(await setUp().authenticator.authenticate(credentials)).toEqual({
      outcome: 'authenticated',
      client: {
        clientId: 'client-1',
        accountId: '8',
        interfaceName: 'lender',
        schemaVersion: '2026-11-01',
      },
    });
  });

  test('a key until the moment it expires', async () => {
    const { authenticator, clock } = setUp({ ...stored, expiresAt: new Date(Date.UTC(2026, 10, 1) + 500) });
    expect((await authenticator.authenticate(credentials)).outcome).toBe('authenticated');
    clock.ms = 500; // still cached
    expect(await authenticator.authenticate(credentials)).toEqual(unauthenticated);
  });
});

describe('who is not let in, all in the same way', () => {
  const sameIdOtherSecret = { ...stored, keyHash: generateApiKey('lender').keyHash };
  test.each([
    ['no credentials', stored, null],
    ['a malformed key', stored, { ...credentials, apiKey: 'key' }],
    ['an unknown key id', null, credentials],
    ['another secret', sameIdOtherSecret, credentials],
    ['another client id', stored, { ...credentials, clientId: 'client-2' }],
    ['another organization', stored, { ...credentials, organizationId: 'org-2' }],
    ['a revoked key', { ...stored, revokedAt: new Date('2026-10-31') }, credentials],
    ['a key revoked by a clock that is ahead', { ...stored, revokedAt: new Date('2026-11-02') }, credentials],
    ['a key stored for the other interface', { ...stored, interfaceName: 'partner' as const }, credentials],
  ])('%s', async (_, key, presented) => {
    expect(await setUp(key).authenticator.authenticate(presented)).toEqual(unauthenticated);
  });

  test('a key of the other interface is told without asking the store', async () => {
    const { authenticator, findApiKey } = setUp();
    const { apiKey } = generateApiKey('partner');
    expect(await authenticator.authenticate({ ...credentials, apiKey })).toEqual({ outcome: 'wrong_interface' });
    expect(findApiKey).not.toHaveBeenCalled();
    expect(await authenticator.authenticate({ ...credentials, apiKey: `${apiKey.slice(0, -1)}!` })).toEqual(
      unauthenticated,
    );
  });
});

describe('what is remembered', () => {
  test('a key for 900 ms, counted from when it was asked for', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    clock.ms = 899;
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(1);
    clock.ms = 900;
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('a longer time is refused', () => {
    expect(() => createAuthenticator({ interfaceName: 'lender', findApiKey: async () => null, cacheMs: 901 })).toThrow(
      RangeError,
    );
  });

  test('no unknown key id', async () => {
    const { authenticator, findApiKey } = setUp(null);
    await authenticator.authenticate(credentials);
    await authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('no more keys than fit', async () => {
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
      const { outcome } = await authenticator.authenticate({ ...credentials, apiKey: key?.apiKey ?? '' });
      expect(outcome).toBe('authenticated');
    }
    expect(findApiKey).toHaveBeenCalledTimes(4); // the first was forgotten
  });

  test('many requests at once ask once, but not for an answer that began too long ago', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    const answers: ((key: StoredApiKey | null) => void)[] = [];
    findApiKey.mockImplementation(() => new Promise((resolve) => answers.push(resolve)));
    const early = [authenticator.authenticate(credentials), authenticator.authenticate(credentials)];
    clock.ms = 900;
    const late = authenticator.authenticate(credentials);
    expect(findApiKey).toHaveBeenCalledTimes(2);

    answers[1]?.({ ...stored, revokedAt: new Date() });
    expect(await late).toEqual(unauthenticated);
    answers[0]?.(stored); // began before the revocation
    expect((await Promise.all(early)).map(({ outcome }) => outcome)).toEqual(['authenticated', 'authenticated']);
    expect(await authenticator.authenticate(credentials)).toEqual(unauthenticated);
    expect(findApiKey).toHaveBeenCalledTimes(2);
  });

  test('while the store is away, keys that were just here pass and others fail', async () => {
    const { authenticator, clock, findApiKey } = setUp();
    await authenticator.authenticate(credentials);
    findApiKey.mockRejectedValue(new Error('away'));
    expect((await authenticator.authenticate(credentials)).outcome).toBe('authenticated');
    clock.ms = 900;
    await expect(authenticator.authenticate(credentials)).rejects.toThrow('away');
    findApiKey.mockResolvedValue(stored);
    expect((await authenticator.authenticate(credentials)).outcome).toBe('authenticated');
  });
});

describe('use', () => {
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
