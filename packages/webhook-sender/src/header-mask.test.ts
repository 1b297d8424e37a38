import { describe, expect, it } from 'vitest';
import { headerMask } from './header-mask.ts';

const masked = '[the request header]';
const maskOf = (value: string) => headerMask({ name: 'Authorization', value });
const bodyOf = (value: string, body: string, isCut = false): string =>
  maskOf(value).body(Buffer.from(body), isCut).toString();

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

  it('is masked in headers, whose bytes are read as ISO 8859-1', () => {
    const echoed = Buffer.from(`ada:${password}`).toString('latin1');
    expect(maskOf(`Basic ${basic}`).text(`user=${echoed}`)).toBe(`user=${masked}`);
  });

  it('is masked at the end of a body that was cut, and left there in one that was not', () => {
    expect(bodyOf(`Bearer ${token}`, `x Bearer ${token.slice(0, 9)}`, true)).toBe(`x ${masked}`);
    expect(bodyOf(`Bearer ${token}`, `x ${token.slice(0, 9)}`, true)).toBe(`x ${masked}`);
    expect(bodyOf(`Bearer ${token}`, 'x Bea', true)).toBe('x Bea');
    expect(bodyOf(`Bearer ${token}`, 'x Bearer', false)).toBe('x Bearer');
  });
});

it('leaves all other bytes as they are', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  expect(maskOf('Bearer secret').body(bytes, true)).toEqual(bytes);
  expect(maskOf('Basic YQ').text('a YQ a')).toBe('a YQ a');
});
