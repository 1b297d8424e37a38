import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TestVectors, VectorBody, VerifyCase } from '../test/test-vectors.ts';
import * as node from './index.ts';
import * as web from './web.ts';

const vectors: TestVectors = JSON.parse(readFileSync(new URL('../test-vectors.json', import.meta.url), 'utf8'));
const acceptCases = vectors.verify.filter((vector) => 'accept' in vector);
const rejectCases = vectors.verify.filter((vector) => 'reject' in vector);
const textCases = vectors.sign.filter(({ body }) => body !== undefined);
/** Of the headers in the vectors. */
const prefix = 'X-Service';
const entryPoints = [
  { name: 'node', ...node },
  { name: 'web', ...web },
];

function bytes({ body, bodyBase64 }: VectorBody): Buffer {
  return body === undefined ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(body, 'utf8');
}

/** Converts a repeated header into an array, as Node's `headersDistinct` does. */
function record(headers: VerifyCase['headers']): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {};
  for (const [name, value] of headers) values[name] = name in values ? [values[name] ?? [], value].flat() : value;
  return values;
}

/** Lower-cases names and joins repeated values, as Node's `headers` does. */
function joined(headers: VerifyCase['headers']): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    values[key] = key in values ? `${values[key]}, ${value}` : value;
  }
  return values;
}

it('contains at least the initial number of cases', () => {
  expect(vectors.sign.length).toBeGreaterThanOrEqual(13);
  expect(acceptCases.length).toBeGreaterThanOrEqual(24);
  expect(rejectCases.length).toBeGreaterThanOrEqual(81);
  expect(vectors.secrets.invalid.length).toBeGreaterThanOrEqual(16);
});

describe.each(entryPoints)('$name', ({ signWebhook, verifyWebhook, isWebhookSecret }) => {
  it.each(vectors.secrets.valid)('accepts the secret %s', (secret) => {
    expect(isWebhookSecret(secret)).toBe(true);
  });

  it.each(vectors.secrets.invalid)('rejects a secret: $why', ({ secret }) => {
    expect(isWebhookSecret(secret)).toBe(false);
  });

  it.each(vectors.sign)('signs: $name', async ({ id, timestamp, secret, nextSecret, headers, ...body }) => {
    expect(await signWebhook({ id, timestamp, body: bytes(body), secret, nextSecret, prefix })).toStrictEqual(headers);
  });

  it.each(textCases)('signs the UTF-8 bytes of a string: $name', async ({ headers, body = '', ...options }) => {
    expect(await signWebhook({ ...options, body, prefix })).toStrictEqual(headers);
  });

  describe.each([
    { form: 'Headers', headersOf: (pairs: VerifyCase['headers']) => new Headers(pairs) },
    { form: 'an object of strings and arrays', headersOf: record },
    { form: 'an object like `request.headers` of Node', headersOf: joined },
  ])('with $form', ({ headersOf }) => {
    const verify = async ({ headers, secrets, now, toleranceSeconds, ...body }: VerifyCase) => {
      const request = {
        headers: headersOf(headers),
        body: bytes(body),
        now: new Date(now * 1000),
        toleranceSeconds,
        prefix,
      };
      // A single secret may be passed as a string or as a list.
      const [secret = '', ...others] = secrets;
      if (others.length === 0) await verifyWebhook({ ...request, secret });
      return verifyWebhook({ ...request, secret: secrets });
    };

    it.each(acceptCases)('accepts: $name', async (vector) => {
      const { id, timestamp } = vector.accept;
      expect(await verify(vector)).toStrictEqual({ id, timestamp: new Date(timestamp * 1000) });
    });

    it.each(rejectCases)('rejects: $name', async (vector) => {
      await expect(verify(vector)).rejects.toMatchObject({ name: 'WebhookVerificationError', code: vector.reject });
    });
  });
});

describe('the standardwebhooks package', () => {
  afterEach(() => vi.useRealTimers());

  // The package accepts text only, so bodies that are not UTF-8 are omitted.
  it.each(textCases)('verifies our signatures: $name', ({ body = '', secret, nextSecret, timestamp, headers }) => {
    vi.useFakeTimers({ now: timestamp * 1000, toFake: ['Date'] });
    for (const key of nextSecret === undefined ? [secret] : [secret, nextSecret]) {
      expect(() => new Webhook(key).verify(body, headers, { jsonParse: false })).not.toThrow();
    }
  });

  it.each(textCases)(
    'produces the same signatures: $name',
    ({ id, body = '', secret, nextSecret, timestamp, headers }) => {
      const signatures = [secret, ...(nextSecret === undefined ? [] : [nextSecret])].map((key) =>
        new Webhook(key).sign(id, new Date(timestamp * 1000), body),
      );
      expect(headers['webhook-signature']).toBe(signatures.join(' '));
    },
  );
});
