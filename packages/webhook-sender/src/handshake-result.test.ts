import { describe, expect, it } from 'vitest';
import { AttemptError } from './attempt-error.ts';
import type { ReceivedResponse } from './call.ts';
import { classifyFailure, classifyResponse } from './handshake-result.ts';

const secrets = {
  token: 'q4yK0sZ7u2m8JtXvQWERTYUIOPasdfghjklzxcvbnm1',
  secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0',
};
const url = new URL('https://api.example.com/webhooks');
const echo = JSON.stringify({ verification_token: secrets.token });

function response(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): ReceivedResponse {
  const bytes = Buffer.from(body);
  return { status, headers: new Map(Object.entries(headers)), body: bytes, bodyBytes: bytes.length };
}

describe('classifyResponse', () => {
  it.each([
    [200, echo],
    [201, echo],
    [299, echo],
    [200, `\ufeff ${echo}\n`],
    [200, JSON.stringify({ ok: true, verification_token: secrets.token })],
    [200, echo.replace('q', String.raw`\u0071`)],
  ])('accepts %i %j', (status, body) => {
    expect(classifyResponse(response(status, body, {}), secrets, url)).toStrictEqual({ verified: true });
  });

  it.each(['identity', 'Identity'])('accepts Content-Encoding %s', (encoding) => {
    const result = classifyResponse(response(200, echo, { 'content-encoding': encoding }), secrets, url);
    expect(result).toStrictEqual({ verified: true });
  });

  it.each([
    [
      'another value',
      response(200, '{"verification_token":"other"}'),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the value of verification_token differs from the token in the request. Respond with the JSON object of the request, {"verification_token":"…"}.',
    ],
    [
      'a value that is not a string',
      response(200, '{"verification_token":null}'),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the value of verification_token is not a string. Respond with the JSON object of the request, {"verification_token":"…"}.',
    ],
    [
      'no key',
      response(202, '{"ok":true}'),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 202, but the JSON object has no verification_token key. Respond with the JSON object of the request, {"verification_token":"…"}. The response has Content-Type application/json and a body that starts with "{"ok":true}".',
    ],
    [
      'a key of the prototype',
      response(200, '{"__proto__":{"verification_token":"a"}}'),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the JSON object has no verification_token key. Respond with the JSON object of the request, {"verification_token":"…"}. The response has Content-Type application/json and a body that starts with "{"__proto__":{"verification_token":"a"}}".',
    ],
    [
      'an array',
      response(200, '[]'),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the body is not a JSON object. Respond with the JSON object of the request, {"verification_token":"…"}. The response has Content-Type application/json and a body that starts with "[]".',
    ],
    [
      'the bare token',
      response(200, secrets.token, { 'content-type': 'text/plain' }),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the body is not JSON. Respond with the JSON object of the request, {"verification_token":"…"}. The response has Content-Type text/plain and a body that starts with "[the token]".',
    ],
    [
      'an empty body',
      response(204, '', {}),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 204, but the body is not JSON. Respond with the JSON object of the request, {"verification_token":"…"}. The response has no Content-Type and an empty body.',
    ],
    [
      'bytes that are not UTF-8',
      response(200, Buffer.of(0x22, 0xff, 0x22), {}),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the body is not JSON. Respond with the JSON object of the request, {"verification_token":"…"}. The response has no Content-Type and a body that starts with ""?"".',
    ],
    [
      'a compressed body',
      response(200, 'x', { 'content-encoding': 'gzip' }),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200, but the body has Content-Encoding gzip. Send it unencoded, as "Accept-Encoding: identity" requires.',
    ],
    [
      'an error page',
      response(404, '<html>\r\n  <b>No\u0007\u001b[31m such page – ä</b>', {
        'content-type': 'text/html; charset=utf-8',
      }),
      'VERIFICATION_STATUS',
      'The callback URL returned status 404. Respond to the handshake with a 2xx status. The response has Content-Type text/html; charset=utf-8 and a body that starts with "<html> <b>No??[31m such page ? ?</b>".',
    ],
    [
      'a redirect without a location',
      response(304, '', {}),
      'VERIFICATION_REDIRECT',
      'The callback URL returned a redirect with status 304 and no Location. Redirects are not followed. Register the final URL.',
    ],
    [
      'a redirect to a login',
      response(307, '', { location: '/sign-in?redirect_url=%2Fwebhooks' }),
      'VERIFICATION_REDIRECT',
      'The callback URL returned a redirect with status 307 and Location /sign-in?redirect_url=%2Fwebhooks. A login protects the URL. Let requests to this path through without a login: their signature authenticates them.',
    ],
    [
      'a page of a login',
      response(200, '<title>Sign in</title>', { 'content-type': 'text/html' }),
      'VERIFICATION_MISMATCH',
      'The callback URL returned status 200. A login protects the URL. Let requests to this path through without a login: their signature authenticates them. The response has Content-Type text/html and a body that starts with "<title>Sign in</title>".',
    ],
    [
      'a page of a CSRF check',
      response(419, '<title>Page Expired</title>', { 'content-type': 'text/html' }),
      'VERIFICATION_STATUS',
      'The callback URL returned status 419. A CSRF check refused the request. Exempt this path from CSRF checks: its requests are authenticated by their signature. The response has Content-Type text/html and a body that starts with "<title>Page Expired</title>".',
    ],
  ])('rejects %s', (_case, received, code, message) => {
    expect(classifyResponse(received, secrets, url)).toStrictEqual({ verified: false, code, message });
  });

  it('shows the first 200 characters of a long body', () => {
    expect(classifyResponse(response(500, 'ab'.repeat(1000), {}), secrets, url)).toMatchObject({
      message: `The callback URL returned status 500. Respond to the handshake with a 2xx status. The response has no Content-Type and a body that starts with "${'ab'.repeat(100)}…".`,
    });
  });

  it('redacts the token and the secret in every part of the response', () => {
    const everything = `${secrets.secret} ${secrets.token} ${secrets.secret}`;
    const headers = { location: everything, 'content-type': everything };
    for (const received of [
      response(200, everything, headers),
      response(301, everything, headers),
      response(500, everything, headers),
      response(200, everything, { 'content-encoding': everything }),
    ]) {
      const result = JSON.stringify(classifyResponse(received, secrets, url));
      expect(result).toContain('[the secret] [the token] [the secret]');
      expect(result).not.toContain(secrets.token);
      expect(result).not.toContain(secrets.secret);
    }
  });
});

it('reports a URL that is no longer allowed as at its registration', () => {
  expect(classifyFailure(new AttemptError('URL_FORBIDDEN', 'Why.'), 2500)).toStrictEqual({
    verified: false,
    code: 'CALLBACK_URL_FORBIDDEN',
    message: 'Why.',
  });
});
