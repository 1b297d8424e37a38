import { describe, expect, it } from 'vitest';
import { AttemptError } from './attempt-error.ts';
import type { Answer } from './exchange.ts';
import { judgeAnswer, judgeFailure } from './handshake-verdict.ts';

const secrets = {
  token: 'q4yK0sZ7u2m8JtXvQWERTYUIOPasdfghjklzxcvbnm1',
  secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0',
};
const echo = JSON.stringify({ verification_token: secrets.token });

function answer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Answer {
  const bytes = Buffer.from(body);
  return { status, headers: new Map(Object.entries(headers)), body: bytes, bodyBytes: bytes.length };
}

describe('judgeAnswer', () => {
  it.each([
    [200, echo],
    [201, echo],
    [299, echo],
    [200, `\ufeff ${echo}\n`],
    [200, JSON.stringify({ ok: true, verification_token: secrets.token })],
    [200, echo.replace('q', String.raw`\u0071`)],
  ])('accepts %i %j', (status, body) => {
    expect(judgeAnswer(answer(status, body, {}), secrets)).toStrictEqual({ verified: true });
  });

  it.each([
    [
      'another value',
      answer(200, '{"verification_token":"other"}'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the value of verification_token differs from the one that was sent.',
    ],
    [
      'no value',
      answer(200, '{"verification_token":""}'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the value of verification_token differs from the one that was sent.',
    ],
    [
      'a value that is no string',
      answer(200, '{"verification_token":null}'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the value of verification_token is not a string.',
    ],
    [
      'no key',
      answer(202, '{"ok":true}'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 202, but the JSON object has no verification_token key; Content-Type application/json, the body starts with "{"ok":true}".',
    ],
    [
      'a key of the prototype',
      answer(200, '{"__proto__":{"verification_token":"a"}}'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the JSON object has no verification_token key; Content-Type application/json, the body starts with "{"__proto__":{"verification_token":"a"}}".',
    ],
    [
      'an array',
      answer(200, '[]'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the body is not a JSON object; Content-Type application/json, the body starts with "[]".',
    ],
    [
      'null',
      answer(200, 'null'),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the body is not a JSON object; Content-Type application/json, the body starts with "null".',
    ],
    [
      'the bare token',
      answer(200, secrets.token, { 'content-type': 'text/plain' }),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the body is not JSON; Content-Type text/plain, the body starts with "[the token]".',
    ],
    [
      'an empty body',
      answer(204, '', {}),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 204, but the body is not JSON; no Content-Type, an empty body.',
    ],
    [
      'bytes that are not UTF-8',
      answer(200, Buffer.of(0x22, 0xff, 0x22), {}),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the body is not JSON; no Content-Type, the body starts with ""?"".',
    ],
    [
      'an encoded body',
      answer(200, 'x', { 'content-encoding': 'gzip' }),
      'VERIFICATION_MISMATCH',
      'The callback URL answered with status 200, but the body is encoded (Content-Encoding gzip), although "identity" was asked for.',
    ],
    [
      'an error page',
      answer(404, '<html>\r\n  <b>No\u0007\u001b[31m such page – ä</b>', {
        'content-type': 'text/html; charset=utf-8',
      }),
      'VERIFICATION_STATUS',
      'The callback URL answered with status 404, not 2xx; Content-Type text/html; charset=utf-8, the body starts with "<html> <b>No??[31m such page ? ?</b>".',
    ],
    [
      'an error with the right token',
      answer(500, echo),
      'VERIFICATION_STATUS',
      'The callback URL answered with status 500, not 2xx; Content-Type application/json, the body starts with "{"verification_token":"[the token]"}".',
    ],
    [
      'a redirect',
      answer(308, echo, { location: 'https://www.example.com/hooks' }),
      'VERIFICATION_REDIRECT',
      'The callback URL answered with a redirect, status 308 and Location https://www.example.com/hooks. Redirects are not followed; register the final URL.',
    ],
    [
      'a redirect to nowhere',
      answer(304, '', {}),
      'VERIFICATION_REDIRECT',
      'The callback URL answered with a redirect, status 304 and no Location. Redirects are not followed; register the final URL.',
    ],
  ])('refuses %s', (_what, given, code, message) => {
    expect(judgeAnswer(given, secrets)).toStrictEqual({ verified: false, code, message });
  });

  it('shows about 200 characters of a long body', () => {
    expect(judgeAnswer(answer(500, 'ab'.repeat(1000), {}), secrets)).toMatchObject({
      message: `The callback URL answered with status 500, not 2xx; no Content-Type, the body starts with "${'ab'.repeat(100)}…".`,
    });
  });

  it('refuses a body that was not kept whole, even if what was kept would do', () => {
    expect(judgeAnswer({ ...answer(200, echo.padEnd(16 * 1024)), bodyBytes: 16 * 1024 + 1 }, secrets)).toMatchObject({
      code: 'VERIFICATION_MISMATCH',
      message: expect.stringContaining('the body is longer than 16 kB'),
    });
  });

  it('never shows the token or the secret, wherever they come back', () => {
    const everything = `${secrets.secret} ${secrets.token} ${secrets.secret}`;
    for (const status of [200, 301, 500]) {
      const outcome = JSON.stringify(
        judgeAnswer(answer(status, everything, { location: everything, 'content-type': everything }), secrets),
      );
      expect(outcome).toContain('[the secret] [the token] [the secret]');
      expect(outcome).not.toContain(secrets.token);
      expect(outcome).not.toContain(secrets.secret);
    }
  });
});

describe('judgeFailure', () => {
  it.each([
    ['ADDRESS_FORBIDDEN', 'CALLBACK_URL_FORBIDDEN', 'Why.'],
    ['CONNECTION_FAILED', 'VERIFICATION_UNREACHABLE', 'Why.'],
    ['DNS_FAILED', 'VERIFICATION_UNREACHABLE', 'Why.'],
    ['PROTOCOL_ERROR', 'VERIFICATION_UNREACHABLE', 'Why.'],
    ['TIMEOUT', 'VERIFICATION_TIMEOUT', 'No complete answer within 2.5 s. Why.'],
    ['TLS_FAILED', 'VERIFICATION_UNREACHABLE', 'Why.'],
  ] as const)('maps %s to %s', (from, code, message) => {
    expect(judgeFailure(new AttemptError(from, 'Why.'), 2500)).toStrictEqual({ verified: false, code, message });
  });
});
