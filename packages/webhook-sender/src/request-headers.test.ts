import { describe, expect, it } from 'vitest';
import { headerList, requestHeaders } from './request-headers.ts';

it('lower-cases names and lets later sources override earlier ones', () => {
  expect(requestHeaders({ 'X-A': '1', 'x-b': '2' }, { 'x-a': '3' })).toStrictEqual({ 'x-a': '3', 'x-b': '2' });
});

it('accepts names of Object.prototype', () => {
  expect(Object.entries(requestHeaders({ constructor: 'a' }))).toStrictEqual([['constructor', 'a']]);
});

it.each([
  ['x-a', 'b\r\nx-c: d'],
  ['x-a', 'b\nc'],
  ['x-a', 'b\rc'],
  ['x-a', 'b\u0000'],
  ['x-a', 'ä'],
  ['x-a', '\u{1f600}'],
  ['x a', 'b'],
  ['x-a:', 'b'],
  ['x-a\r\nx-c', 'b'],
  ['', 'b'],
])('rejects %j: %j', (name, value) => {
  expect(() => requestHeaders({ [name]: value })).toThrow(expect.objectContaining({ code: 'PROTOCOL_ERROR' }));
});

describe('headerList', () => {
  const signature = {
    'x-service-webhook-signature': 'a',
    'x-service-webhook-timestamp': '1',
    'webhook-id': 'id',
    'webhook-timestamp': '1',
    'webhook-signature': 'v1,a',
  };
  const ofSender = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'agent'];

  it('lets the headers of a request override those of the target, in any case, and lists no name twice', () => {
    const list = headerList(
      { 'X-A': '1', 'x-b': 'x-c' },
      'agent',
      'X-Service',
    )({ 'x-a': '2', 'X-C': '3', 'x-C': '4' }, signature);
    expect(list.slice(ofSender.length, -10)).toEqual(['x-a', '2', 'x-b', 'x-c', 'x-c', '4']);
  });

  it('ignores headers that the sender sets, with and without a rotation', () => {
    const names = [...ofSender.filter((_, index) => index % 2 === 0), ...Object.keys(signature)];
    const given = Object.fromEntries(
      [...names, 'x-service-webhook-signature-next'].map((name) => [name.toUpperCase(), 'forged']),
    );
    const expected = [...ofSender, ...Object.entries(signature).flat()];
    expect(headerList(given, 'agent', 'X-Service')({}, signature)).toEqual(expected);
    expect(headerList({}, 'agent', 'X-Service')(given, signature)).toEqual(expected);
  });

  it('rejects an invalid header of the target or of a request, every time', () => {
    const invalid = expect.objectContaining({ code: 'PROTOCOL_ERROR' });
    expect(() => headerList({ 'x y': '1' }, 'agent', 'X-Service')).toThrow(invalid);
    const list = headerList({}, 'agent', 'X-Service');
    for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a\r\n': 'b' }, { 'x-a': 'b\r\nx-c: d' }]) {
      expect(() => list(headers, signature)).toThrow(invalid);
    }
  });
});
