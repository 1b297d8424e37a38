import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretKeyRing, SecretUnreadableError } from './secret-key-ring.ts';

const sampleSecret = 'whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0';
const ownRecord = 'webhook-subscription:1';
const oldKey = randomBytes(32);
const newKey = randomBytes(32);
const ring = createSecretKeyRing(new Map([['k1', oldKey]]));

test('decrypts what it encrypts, and encrypts differently each time', () => {
  const first = ring.encrypt(sampleSecret, ownRecord);
  const second = ring.encrypt(sampleSecret, ownRecord);
  expect(ring.decrypt(first, ownRecord)).toBe(sampleSecret);
  expect(ring.decrypt(second, ownRecord)).toBe(sampleSecret);
  expect(first.equals(second)).toBe(false);
  expect(first.includes(sampleSecret)).toBe(false);
});

test('decrypts the stored format, which is pinned for later builds', () => {
  const iv = Buffer.alloc(12, 7);
  const cipher = createCipheriv('aes-256-gcm', oldKey, iv, { authTagLength: 16 });
  cipher.setAAD(Buffer.from(ownRecord));
  const encrypted = Buffer.concat([cipher.update(sampleSecret), cipher.final()]);
  const stored = Buffer.concat([Buffer.of(2), Buffer.from('k1'), iv, cipher.getAuthTag(), encrypted]);
  expect(ring.decrypt(stored, ownRecord)).toBe(sampleSecret);
});

test('rejects the ciphertext of another record', () => {
  const ciphertext = ring.encrypt(sampleSecret, ownRecord);
  expect(() => ring.decrypt(ciphertext, 'webhook-subscription:2')).toThrow(SecretUnreadableError);
});

test('rejects a ciphertext with any byte altered', () => {
  const ciphertext = ring.encrypt(sampleSecret, ownRecord);
  for (const index of ciphertext.keys()) {
    const altered = Buffer.from(ciphertext);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(() => ring.decrypt(altered, ownRecord)).toThrow(SecretUnreadableError);
  }
});

test('rejects a ciphertext that is truncated at any length', () => {
  const ciphertext = ring.encrypt(sampleSecret, ownRecord);
  for (let length = 0; length < ciphertext.length; length += 1) {
    expect(() => ring.decrypt(ciphertext.subarray(0, length), ownRecord)).toThrow(SecretUnreadableError);
  }
});

test('rejects a tag of 4 bytes, which Node accepts by default', () => {
  const ciphertext = ring.encrypt('', ownRecord);
  const tagStart = ciphertext.length - 16;
  expect(() => ring.decrypt(ciphertext.subarray(0, tagStart + 4), ownRecord)).toThrow(SecretUnreadableError);
  const padded = Buffer.concat([ciphertext.subarray(0, tagStart + 4), Buffer.alloc(12)]);
  expect(() => ring.decrypt(padded, ownRecord)).toThrow(SecretUnreadableError);
});

test('names the missing key in the error', () => {
  const other = createSecretKeyRing(new Map([['k2', newKey]]));
  expect(() => other.decrypt(ring.encrypt(sampleSecret, ownRecord), ownRecord)).toThrow(
    "WEBHOOK_SECRET_KEYS contains no key 'k1'",
  );
});

test('encrypts with the first key and decrypts with all', () => {
  const both = createSecretKeyRing(
    new Map([
      ['k2', newKey],
      ['k1', oldKey],
    ]),
  );
  expect(both.decrypt(ring.encrypt(sampleSecret, ownRecord), ownRecord)).toBe(sampleSecret);
  const ciphertext = both.encrypt(sampleSecret, ownRecord);
  expect(createSecretKeyRing(new Map([['k2', newKey]])).decrypt(ciphertext, ownRecord)).toBe(sampleSecret);
  expect(() => ring.decrypt(ciphertext, ownRecord)).toThrow(SecretUnreadableError);
});

test('rejects a ciphertext when another key has its id', () => {
  const other = createSecretKeyRing(new Map([['k1', newKey]]));
  expect(() => other.decrypt(ring.encrypt(sampleSecret, ownRecord), ownRecord)).toThrow(SecretUnreadableError);
});

test('rejects an empty ring', () => {
  expect(() => createSecretKeyRing(new Map())).toThrow('at least one key');
});

test('digests are one for each key, that of the current one first, and the same in every ring with the key', () => {
  const both = createSecretKeyRing(
    new Map([
      ['k2', newKey],
      ['k1', oldKey],
    ]),
  );
  const [old] = ring.digests(sampleSecret, ownRecord);
  expect(ring.digests(sampleSecret, ownRecord)).toEqual([old]);
  const [current, ...others] = both.digests(sampleSecret, ownRecord);
  expect(others).toEqual([old]);
  // Pinned: a repeated request of up to 24 hours ago has the same one.
  const derived = Buffer.from(hkdfSync('sha256', newKey, '', 'deedwire digest', 32));
  const text = JSON.stringify([ownRecord, sampleSecret]);
  expect(current).toBe(createHmac('sha256', derived).update(text).digest('base64url'));
});

test('a digest differs for another secret and for other associated data', () => {
  const digests = [
    ring.digests('a', 'b'),
    ring.digests('b', 'a'),
    ring.digests('ab', ''),
    ring.digests('', 'ab'),
    ring.digests('a', 'c'),
  ];
  expect(new Set(digests.flat()).size).toBe(5);
});
