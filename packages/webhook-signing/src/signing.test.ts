import { cpuMsOf } from '@deedwire/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as node from './index.ts';
import * as web from './web.ts';

const id = 'gid://service/WebhookDelivery/1';
const timestamp = 1_793_491_200;
const now = new Date(timestamp * 1000);
const secret = node.generateWebhookSecret();

const secrets = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
/** Of any code points. The unit `binary` of fast-check takes a second of CPU time to build. */
const anyText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});
const bodies = fc.oneof(anyText, fc.uint8Array({ maxLength: 500 }));
const timestamps = fc.integer({ min: 1_000_000_000, max: 9_999_999_999 });
const ids = fc.stringMatching(/^[!-+\-/-~]{1,64}$/);

/** Runs `call` and returns the error that it throws or rejects with. */
async function failure(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail');
}

describe('properties', () => {
  it('signs identically in both entry points, and each verifies the result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          id: ids,
          timestamp: timestamps,
          body: bodies,
          secret: secrets,
          nextSecret: fc.option(secrets, { nil: undefined }),
          prefix: fc.constantFrom('X-Service', 'X-Acme', undefined),
        }),
        async (options) => {
          const headers = node.signWebhook(options);
          expect(await web.signWebhook(options)).toStrictEqual(headers);
          const verified = { id: options.id, timestamp: new Date(options.timestamp * 1000) };
          const { body, prefix, nextSecret = options.secret } = options;
          for (const key of [options.secret, nextSecret]) {
            const request = { headers, body, secret: key, now: verified.timestamp, prefix };
            expect(node.verifyWebhook(request)).toStrictEqual(verified);
            expect(await web.verifyWebhook(request)).toStrictEqual(verified);
          }
        },
      ),
    );
  });

  it('rejects a request when one bit of the body or one character of a header changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(),
        fc.constantFrom(
          'x-service-webhook-signature',
          'x-service-webhook-timestamp',
          'webhook-id',
          'webhook-timestamp',
          'webhook-signature',
        ),
        async (body, position, name) => {
          const headers: Record<string, string> = node.signWebhook({
            id,
            timestamp,
            body,
            secret,
            prefix: 'X-Service',
          });
          const flipped = Uint8Array.from(body);
          flipped[position % body.length] = (body[position % body.length] ?? 0) ^ (1 << (position % 8));
          const value = headers[name] ?? '';
          const at = position % value.length;
          const changed = value.slice(0, at) + (value[at] === 'e' ? '3' : 'e') + value.slice(at + 1);
          for (const request of [
            { headers, body: flipped, secret, now, prefix: 'X-Service' },
            { headers: { ...headers, [name]: changed }, body, secret, now, prefix: 'X-Service' },
          ]) {
            expect(node.WebhookVerificationError.isInstance(await failure(() => node.verifyWebhook(request)))).toBe(
              true,
            );
            expect(web.WebhookVerificationError.isInstance(await failure(() => web.verifyWebhook(request)))).toBe(true);
          }
        },
      ),
    );
  });

  it('throws a verification error for any invalid headers', () => {
    const names = fc.constantFrom(
      'X-Service-Webhook-Signature',
      'x-service-webhook-timestamp',
      'WEBHOOK-ID',
      'webhook-timestamp',
      'webhook-signature',
      '__proto__',
    );
    const values = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined), fc.constant(String(timestamp)));
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (pairs) => {
        const headers = Object.fromEntries(pairs);
        expect(() => node.verifyWebhook({ headers, body: '{}', secret, now, prefix: 'X-Service' })).toThrow(
          node.WebhookVerificationError,
        );
      }),
    );
  });
});

type Usage = [what: string, change: object, code: string, message: RegExp];

// The types forbid many of these, but a JavaScript caller can pass them.
const notVerifiable: Usage[] = [
  ['a parsed body', { body: { a: 1 } }, 'BODY_NOT_RAW', /parsed object.*JSON\.stringify/],
  ['a parsed array', { body: [] }, 'BODY_NOT_RAW', /parsed object/],
  ['no body', { body: null }, 'BODY_NOT_RAW', /null.*body parser/],
  ['an ArrayBuffer', { body: new ArrayBuffer(2) }, 'BODY_NOT_RAW', /Pass a Uint8Array/],
  ['a body that is a number', { body: 1 }, 'BODY_NOT_RAW', /\[object Number\]/],
  ['a secret that is not configured', { secret: undefined }, 'SECRET_INVALID', /undefined.*configured/],
  ['an empty secret', { secret: '' }, 'SECRET_INVALID', /empty/],
  ['a line feed after the secret', { secret: `${secret}\n` }, 'SECRET_INVALID', /white space/],
  ['a secret without its prefix', { secret: secret.slice(6) }, 'SECRET_INVALID', /Pass the whole secret/],
  ['a truncated secret', { secret: secret.slice(0, 20) }, 'SECRET_INVALID', /canonical base64/],
  ['a secret that is a number', { secret: 1 }, 'SECRET_INVALID', /not a string/],
  ['no secrets', { secret: [] }, 'SECRET_INVALID', /empty/],
  ['one invalid secret of two', { secret: [secret, 'x'] }, 'SECRET_INVALID', /whsec_/],
  ['no headers', { headers: undefined }, 'HEADERS_INVALID', /Headers object/],
  [
    'a header that is a number',
    { headers: { 'webhook-timestamp': 1 } },
    'HEADERS_INVALID',
    /header webhook-timestamp must/,
  ],
  ['a prefix that is not X- and a word', { prefix: 'X-Service-' }, 'PREFIX_INVALID', /for example X-Service/],
  ['an invalid date', { now: new Date(Number.NaN) }, 'NOW_INVALID', /Date/],
  ['a negative tolerance', { toleranceSeconds: -1 }, 'TOLERANCE_INVALID', /seconds/],
  ['a tolerance that is not a number', { toleranceSeconds: Number.NaN }, 'TOLERANCE_INVALID', /seconds/],
];
const notSignable: Usage[] = [
  ['a timestamp in milliseconds', { timestamp: Date.now() }, 'TIMESTAMP_INVALID', /milliseconds/],
  ['a timestamp with a fraction of a second', { timestamp: timestamp + 0.5 }, 'TIMESTAMP_INVALID', /whole/],
  ['a timestamp that is a string', { timestamp: String(timestamp) }, 'TIMESTAMP_INVALID', /whole/],
  ['an id with a dot', { id: 'a.b' }, 'ID_INVALID', /dot/],
  ['an id with a line break', { id: 'a\r\nx: y' }, 'ID_INVALID', /visible/],
  ['a prefix with a line break', { prefix: 'X-A\r\nB' }, 'PREFIX_INVALID', /for example X-Service/],
  ['an invalid next secret', { nextSecret: '' }, 'SECRET_INVALID', /empty/],
];

describe.each([
  { name: 'node', ...node },
  { name: 'web', ...web },
])(
  '$name',
  ({
    signWebhook,
    verifyWebhook,
    generateWebhookSecret,
    isWebhookSecret,
    webhookSecretProblem,
    WebhookVerificationError,
    WebhookUsageError,
  }) => {
    const prefix = 'X-Service';
    const unsigned = { id, timestamp, body: '{}', secret, prefix };
    const headers = node.signWebhook(unsigned);
    const good = { headers, body: '{}', secret, now, prefix };

    it('generates distinct secrets of 32 bytes', () => {
      const generated = Array.from({ length: 100 }, () => generateWebhookSecret());
      for (const each of generated) expect(each).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(generated.every(isWebhookSecret)).toBe(true);
      expect(new Set(generated).size).toBe(100);
    });

    it.each([undefined, null, 1, [secret], { secret }])('does not accept %j as a secret', (value) => {
      expect(isWebhookSecret(value)).toBe(false);
    });

    it('says what is wrong with a secret, and nothing of a valid one', () => {
      expect(webhookSecretProblem(`${secret}\n`)).toBe(
        'The secret starts or ends with white space, such as a line feed. Remove it. A webhook secret is "whsec_" followed by the base64 of 24 to 64 bytes.',
      );
      expect(webhookSecretProblem(secret)).toBe(null);
    });

    it.each([
      [`v1,${secret}`, 'The secret begins with "v1,". Remove that.'],
      [`v1 ${secret}`, 'The secret begins with "v1 ". Remove that.'],
      [`v1=${secret}`, 'The secret begins with "v1=". Remove that.'],
      [`Bearer ${secret}`, 'The secret begins with "Bearer ". Remove that.'],
      [`export WEBHOOK_SECRET="${secret}"`, 'The secret begins with "export WEBHOOK_SECRET=". Remove that.'],
      [`"${secret}"`, String.raw`The secret begins with "\"". Remove that.`],
      [`v1\n${secret}`, String.raw`The secret begins with "v1\n". Remove that.`],
      [`${'A'.repeat(60)}=${secret}`, 'The secret does not start with "whsec_"'],
      [`${secret} ${secret}`, 'The text contains several secrets. Pass an array, or to commands a line for each.'],
      [`${secret},${secret}`, 'The text contains several secrets. Pass an array, or to commands a line for each.'],
      [`${secret}\n${secret}\n`, 'The text contains several secrets. Pass an array, or to commands a line for each.'],
      [
        `["${secret}","${secret}"]`,
        'The text contains several secrets. Pass an array, or to commands a line for each.',
      ],
      [`whsec_${secret}`, 'What follows "whsec_" is not'],
      [`hunter2 ${secret}`, 'The secret does not start with "whsec_"'],
    ])('says what is beside a secret, and shows no other text (%#)', (given, problem) => {
      const found = webhookSecretProblem(given) ?? '';
      expect(found.slice(0, problem.length)).toBe(problem);
      expect(found).not.toContain(secret.slice(6, 16));
      expect(found).not.toContain('hunter2');
    });

    it.each(['whsec_', '!whsec', 'v1,', '=', '\n'])('says in linear time what is wrong with much of %j', (part) => {
      const repeated = part.repeat(1_000_000 / part.length);
      const cpuMs = cpuMsOf(() => {
        expect(webhookSecretProblem(`A${repeated}`)).toContain('A webhook secret is ');
        expect(webhookSecretProblem(repeated)).toContain('A webhook secret is ');
      });
      expect(cpuMs).toBeLessThan(5_000);
    });

    it('defaults to the current time and a tolerance of 300 s', async () => {
      const seconds = Math.floor(Date.now() / 1000);
      const fresh = await signWebhook({ id, timestamp: seconds - 290, body: '{}', secret });
      const stale = await signWebhook({ id, timestamp: seconds - 310, body: '{}', secret });
      expect(await verifyWebhook({ headers: fresh, body: '{}', secret })).toMatchObject({ id });
      expect(await failure(() => verifyWebhook({ headers: stale, body: '{}', secret }))).toMatchObject({
        code: 'TIMESTAMP_TOO_OLD',
      });
    });

    it('ignores other headers, whatever their values are', async () => {
      const others: object = { 'content-length': 2, host: null };
      expect(await verifyWebhook({ ...good, headers: { ...headers, ...others } })).toMatchObject({ id });
    });

    it('ignores headers that are undefined or an empty array', async () => {
      const partial = { ...headers, 'webhook-id': undefined, 'webhook-timestamp': [], 'webhook-signature': undefined };
      expect(await verifyWebhook({ ...good, headers: partial })).toStrictEqual({ id: null, timestamp: now });
    });

    it('needs and makes no headers of the service without a prefix', async () => {
      const standard = await signWebhook({ id, timestamp, body: '{}', secret });
      expect(Object.keys(standard)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
      expect(await verifyWebhook({ headers: standard, body: '{}', secret, now })).toMatchObject({ id });
      const forged = { ...headers, 'x-service-webhook-signature': '0'.repeat(64) };
      expect(await verifyWebhook({ headers: forged, body: '{}', secret, now })).toMatchObject({ id });
      const own = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-')));
      expect(await failure(() => verifyWebhook({ headers: own, body: '{}', secret, now }))).toMatchObject({
        code: 'SIGNATURE_MISSING',
        message: 'The request has no webhook-signature. Check your proxies.',
      });
    });

    it('reads the headers of its prefix only', async () => {
      const acme = await signWebhook({ ...unsigned, prefix: 'X-Acme' });
      expect(acme['x-acme-webhook-signature']).toBe(headers['x-service-webhook-signature']);
      const own = Object.fromEntries(Object.entries(acme).filter(([name]) => name.startsWith('x-')));
      expect(await verifyWebhook({ ...good, headers: own, prefix: 'X-Acme' })).toMatchObject({ id: null });
      expect(await failure(() => verifyWebhook({ ...good, headers: own }))).toMatchObject({
        code: 'SIGNATURE_MISSING',
        message: 'The request has neither X-Service-Webhook-Signature nor webhook-signature. Check your proxies.',
      });
    });

    it('rejects a header that occurs in two spellings', async () => {
      const twice = { ...headers, 'Webhook-Id': id };
      expect(await failure(() => verifyWebhook({ ...good, headers: twice }))).toMatchObject({
        code: 'HEADER_MALFORMED',
        message: 'webhook-id occurs more than once.',
      });
    });

    it('accepts bytes from another realm and a view into a larger buffer', async () => {
      const { runInNewContext } = await import('node:vm');
      expect(await verifyWebhook({ ...good, body: runInNewContext('Uint8Array.of(0x7b, 0x7d)') })).toMatchObject({
        id,
      });
      expect(await verifyWebhook({ ...good, body: Uint8Array.of(0, 0x7b, 0x7d, 0).subarray(1, 3) })).toMatchObject({
        id,
      });
    });

    it.each([
      ...notVerifiable.map(
        ([what, change, ...error]) => [what, () => verifyWebhook({ ...good, ...change }), ...error] as const,
      ),
      ...notSignable.map(
        ([what, change, ...error]) => [what, () => signWebhook({ ...unsigned, ...change }), ...error] as const,
      ),
    ])('rejects %s', async (_, call, code, message) => {
      const error = await failure(call);
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ name: 'WebhookUsageError', code, message: expect.stringMatching(message) });
      expect(WebhookUsageError.isInstance(error)).toBe(true);
      expect(WebhookVerificationError.isInstance(error)).toBe(false);
      expect(String(error)).not.toContain(secret.slice(6, 20));
    });

    it('lists the usual causes of a mismatch without revealing the secret', async () => {
      const error = await failure(() => verifyWebhook({ ...good, body: '{ }' }));
      expect(error).toMatchObject({
        code: 'SIGNATURE_MISMATCH',
        message: expect.stringMatching(/^No X-Service signature matches.*bytes received/),
      });
      expect(String(error)).not.toContain(secret.slice(6, 20));
    });
  },
);

describe('errors', () => {
  it('are recognized across two copies of the package', () => {
    class CopyOfVerificationError extends Error {}
    const copy = Object.assign(new CopyOfVerificationError('x'), {
      [Symbol.for('@deedwire/webhook-signing/WebhookVerificationError')]: true,
    });
    expect(node.WebhookVerificationError.isInstance(copy)).toBe(true);
    expect(node.WebhookUsageError.isInstance(copy)).toBe(false);
    expect(node.WebhookVerificationError.isInstance(new Error('x'))).toBe(false);
    expect(node.WebhookVerificationError.isInstance(null)).toBe(false);
  });

  it('are the same classes in both entry points', () => {
    expect(web.WebhookVerificationError).toBe(node.WebhookVerificationError);
    expect(web.WebhookUsageError).toBe(node.WebhookUsageError);
  });
});
