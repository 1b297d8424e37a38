import { expect, it } from 'vitest';
import { requestHeaders } from './request-headers.ts';

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
