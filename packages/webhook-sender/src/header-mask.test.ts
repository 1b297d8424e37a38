import { cpuMsOf } from '@deedwire/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { headerMask } from './header-mask.ts';

const masked = '[the request header]';
const maskOf = (value: string) => headerMask({ name: 'Authorization', value });
const bodyOf = (value: string, body: string, isCut = false): string =>
  maskOf(value).body(Buffer.from(body), { isCut, encoding: null }).toString();

describe('what a response echoes', () => {
  const token = 'a"b/c+d&e<f>0123456789';
  const password = 'pässword';
  const basic = Buffer.from(`ada:${password}`).toString('base64');

  it.each([
    ['the value', `Bearer ${token}`, `Bearer ${token}`],
    ['the token', `Bearer ${token}`, token],
    ['the token after another scheme', `Bearer ${token}`, `bearer  ${token}`],
    ['a value without a scheme', token, token],
    ['a short value', 'abc', 'abc'],
    ['the value in JSON', `Bearer ${token}`, JSON.stringify({ a: `Bearer ${token}` })],
    ['the token in JSON with escaped slashes', `Bearer ${token}`, JSON.stringify(token).replaceAll('/', '\\/')],
    ['the value in base64', `Bearer ${token}`, Buffer.from(`Bearer ${token}`).toString('base64')],
    ['the token in base64url', `Bearer ${token}`, Buffer.from(token).toString('base64url')],
    ['the token in a URL', `Bearer ${token}`, `/?t=${encodeURIComponent(token)}`],
    ['the token in HTML', `Bearer ${token}`, '<p>a&quot;b/c+d&amp;e&lt;f&gt;0123456789</p>'],
    ['the credentials of Basic', `Basic ${basic}`, basic],
    ['user and password of Basic', `Basic ${basic}`, `user ada:${password}`],
    ['the password of Basic', `Basic ${basic}`, `"${password}" is wrong`],
  ])('%s is masked', (_, value, echo) => {
    const shown = bodyOf(value, `before ${echo} and ${echo} after`);
    expect(shown.split(masked)).toHaveLength(3);
    for (const part of [token.slice(5), password, basic.slice(5), 'abc']) expect(shown).not.toContain(part);
    expect(shown).toMatch(/^before .* after$/);
  });

  const generated = 'q7Zt+Vx9/Kc2Lm8Rw4Hs6Jd1Pn5By0==';
  const bearer = `Bearer ${generated}`;
  const tokenOfRails = 'Token token="q7Zt9Vx2Lm8Rw4Hs"';
  const html = "it's<q7Zt9Vx2>Lm8Rw4Hs";

  it.each([
    [
      'JSON with escaped punctuation',
      bearer,
      JSON.stringify(bearer).replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
    ],
    ['JSON in JSON', tokenOfRails, JSON.stringify(JSON.stringify({ a: tokenOfRails }))],
    [
      'JSON in JSON with escaped punctuation',
      bearer,
      JSON.stringify(JSON.stringify(bearer).replaceAll('+', '\\u002b')),
    ],
    ['JSON of a script', bearer, bearer.replaceAll('+', '\\u{2b}').replaceAll('=', '\\x3D')],
    ['a URL in lower case', bearer, encodeURIComponent(bearer).replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ['a URL in a URL', bearer, encodeURIComponent(encodeURIComponent(bearer))],
    ['a form', bearer, encodeURIComponent(bearer).replaceAll('%20', '+')],
    ['HTML with decimal references', bearer, bearer.replaceAll('+', '&#43;').replaceAll('=', '&#061;')],
    ['HTML with hexadecimal references', bearer, bearer.replaceAll('=', '&#x3D;').replaceAll('+', '&#X2b')],
    [
      'HTML with named references',
      html,
      html.replaceAll("'", '&apos;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    ],
    ['HTML of a URL', bearer, `a=${encodeURIComponent(bearer)}`.replaceAll('%', '&#37;')],
    ['upper case', bearer, bearer.toUpperCase()],
    ['lower case', bearer, generated.toLowerCase()],
    ['hexadecimal', bearer, Buffer.from(generated).toString('hex').toUpperCase()],
    ['the beginning', bearer, `invalid token ${generated.slice(0, 20)}...`],
    ['8 characters', bearer, `invalid token ${generated.slice(0, 8)}...`],
    ['the end', bearer, `invalid token ...${generated.slice(-12)}`],
    ['a parameter', tokenOfRails, 'token: q7Zt9Vx2Lm8Rw4Hs'],
    [
      'the last parameter',
      'AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=q7Zt9Vx2',
      'The signature q7Zt9Vx2 does not match',
    ],
    ['a short parameter', 'Token token="q7Zt9"', '{"token":"q7Zt9"}'],
    ['the second of three words', 'ApiKey q7Zt9Vx2 b', 'key q7Zt9Vx2'],
    ['two spaces as one', 'a  q7Zt9Vx2 b', 'a q7Zt9Vx2 b'],
  ])('in %s is masked', (_, value, echo) => {
    const shown = bodyOf(value, `<${echo}>`);
    expect(shown).toContain(masked);
    expect(shown).not.toMatch(/q7zt|vx9|kc2lm|by0|lm8rw|4hs6|371375a74/i);
  });

  it('in base64 of a whole request is masked', () => {
    for (const before of ['', 'a', 'ab']) {
      const request = Buffer.from(`${before}POST / HTTP/1.1\r\nauthorization: ${bearer}\r\n`);
      for (const encoding of ['base64', 'base64url'] as const) {
        const shown = bodyOf(bearer, `{"request":"${request.toString(encoding)}"}`);
        for (const part of shown.split(masked))
          expect(Buffer.from(part.replace('{"request":"', ''), 'base64').toString()).not.toMatch(/q7Zt|Kc2L|Pn5B/);
        expect(shown).toContain(masked);
      }
    }
  });

  it('is not kept with a Content-Encoding', () => {
    const body = Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]);
    for (const encoding of ['gzip', 'BR', 'identity, gzip'])
      expect(maskOf(bearer).body(body, { isCut: false, encoding }).toString()).toMatch(/^\[not kept: /);
    for (const encoding of ['', 'Identity', null, undefined])
      expect(maskOf(bearer).body(body, { isCut: false, encoding })).toEqual(body);
  });

  it('is masked in headers, whose bytes are read as ISO 8859-1', () => {
    const echoed = Buffer.from(`ada:${password}`).toString('latin1');
    expect(maskOf(`Basic ${basic}`).value(`user=${echoed}`)).toBe(`user=${masked}`);
    expect(maskOf(`Basic ${basic}`).name(`x-${basic}`)).toBe(`x-${masked}`);
  });

  it('is masked at the end of a body that was cut, and left there in one that was not', () => {
    expect(bodyOf(`Bearer ${token}`, `x Bearer ${token.slice(0, 9)}`, true)).toBe(`x ${masked}`);
    expect(bodyOf(`Bearer ${token}`, `x ${token.slice(0, 9)}`, true)).toBe(`x ${masked}`);
    expect(bodyOf(`Bearer ${token}`, `x ${token.slice(0, 4)}`, true)).toBe(`x ${masked}`);
    expect(bodyOf(`Bearer ${token}`, 'x Bea', true)).toBe('x Bea');
    expect(bodyOf(`Bearer ${token}`, 'x Bearer', false)).toBe('x Bearer');
  });
});

describe('a short or common value', () => {
  it.each(['1', 'e', 'webhook', 'a b', 'k=v', 'close'])('%s is masked as a whole word only', (value) => {
    const common = 'error 11 of 1.5: x1 webhooks my-webhook tea be backend a-b k=value closed webhook-id';
    expect(bodyOf(value, common)).toBe(common);
    for (const [before, after] of [
      ['', ''],
      ['"', '"'],
      ['key=', '&a'],
      ['<p>', '</p>'],
      ['invalid key ', '.'],
      ['{\\"a\\":\\"', '\\"}'],
    ])
      expect(bodyOf(value, `${before}${value}${after}`)).toBe(`${before}${masked}${after}`);
  });

  it('is masked as a whole value of a received header, and not in names', () => {
    const mask = maskOf('webhook');
    expect(mask.value('webhook')).toBe(masked);
    expect(mask.value('WEBHOOK')).toBe(masked);
    expect(['a webhook', 'webhooks'].map(mask.value)).toEqual(['a webhook', 'webhooks']);
    expect(mask.name('webhook')).toBe('webhook');
  });

  it('is masked in what was sent by the name of the header', () => {
    const mask = headerMask({ name: 'X-Flag', value: 'e' });
    expect(mask.sent('x-flag', 'e')).toBe(masked);
    expect(mask.sent('x-other', 'e')).toBe('e');
  });
});

it('leaves all other bytes as they are', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  expect(maskOf('Bearer secret').body(bytes, { isCut: true, encoding: null })).toEqual(bytes);
  expect(bodyOf('Basic YQ', 'a YQ a')).toBe('a YQ a');
});

// 64 kB and 4,096 characters, of which each repeats itself.
it.each([
  ['the same character', 'a'.repeat(4_096), 'a'.repeat(65_536)],
  ['a character', '1', '1'.repeat(65_536)],
  ['many short words', 'abcd '.repeat(819).trim(), 'abcd abce '.repeat(6_553)],
  ['quotes', `x ${'"'.repeat(4_094)}`, String.raw`\"`.repeat(32_768)],
  ['backslashes', '\\'.repeat(4_096), '\\'.repeat(65_536)],
  ['escapes in escapes', '%'.repeat(4_096), '%252525'.repeat(9_362)],
  ['unfinished escapes', '&#'.repeat(2_048), '&#x000000'.repeat(7_281)],
  ['dots', `a ${'.'.repeat(7)}`, '.'.repeat(65_536)],
])('masks a long body of %s in linear time', (_, value, body) => {
  const lookups = vi.spyOn(Set.prototype, 'has');
  onTestFinished(() => lookups.mockRestore());
  // Four texts, with runs and words. Takes 20 to 150 ms.
  expect(cpuMsOf(() => bodyOf(value, body, true))).toBeLessThan(5_000);
  expect(lookups.mock.calls.length).toBeLessThanOrEqual(2 * 4 * 65_536);
});
