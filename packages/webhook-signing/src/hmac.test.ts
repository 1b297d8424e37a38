import crypto, { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { hmac } from './hmac.ts';

function secretOf(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString('base64')}`;
}

function expected(key: Uint8Array, prefix: string, body: Uint8Array): { service: string; standard: string } {
  const mac = (hmacKey: Uint8Array) => createHmac('sha256', hmacKey).update(prefix).update(body);
  return { service: mac(Buffer.from(secretOf(key))).digest('hex'), standard: mac(key).digest('base64') };
}

function actual(key: Uint8Array, prefix: string, body: Uint8Array): { service: string; standard: string } {
  const secret = secretOf(key);
  return { service: hmac('service', secret, prefix, body), standard: hmac('standard', secret, prefix, body) };
}

it('equals createHmac for every key, prefix and body', () => {
  // The text of a secret of up to 42 bytes fits into a block of SHA-256; a longer one is hashed first.
  const keys = fc.uint8Array({ minLength: 24, maxLength: 64 });
  const prefixes = fc.stringMatching(/^[!-~]{1,600}$/);
  const bodies = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 8000, maxLength: 8400 }));
  fc.assert(
    fc.property(keys, prefixes, bodies, (key, prefix, body) => {
      expect(actual(key, prefix, body)).toStrictEqual(expected(key, prefix, body));
    }),
  );
});

it.each([0, 1, 55, 56, 63, 64, 65, 8191, 8192, 8193, 300_000])('equals createHmac for a body of %i bytes', (length) => {
  const body = Buffer.alloc(length, 'ab');
  for (const keyLength of [24, 42, 43, 64]) {
    const key = Buffer.alloc(keyLength, 7);
    expect(actual(key, '1793491200.', body)).toStrictEqual(expected(key, '1793491200.', body));
  }
});

it('leaves nothing of a longer message or key behind', () => {
  const [longKey, shortKey] = [Buffer.alloc(64, 1), Buffer.alloc(24, 2)];
  hmac('standard', secretOf(longKey), 'p'.repeat(300), Buffer.alloc(5000, 3));
  expect(actual(shortKey, 'p', Buffer.of(4))).toStrictEqual(expected(shortKey, 'p', Buffer.of(4)));
});

it('works without crypto.hash, which Node 20.0 to 20.11 do not have', () => {
  const original = Object.getOwnPropertyDescriptor(crypto, 'hash') ?? {};
  onTestFinished(() => {
    Object.defineProperty(crypto, 'hash', original);
  });
  Object.defineProperty(crypto, 'hash', { value: undefined, configurable: true });
  const [key, body] = [Buffer.alloc(32, 1), Buffer.from('{}')];
  expect(actual(key, '1.', body)).toStrictEqual(expected(key, '1.', body));
});
