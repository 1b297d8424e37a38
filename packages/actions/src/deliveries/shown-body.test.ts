import { expect, test } from 'vitest';
import { toShownBody } from '../webhooks/deliveries/exchanges.ts';

const base64 = (bytes: readonly number[]) => ({ text: null, base64: Buffer.from(bytes).toString('base64') });

test.each([
  ['', 'an empty body'],
  ['{"error":"nö","at":"\u{1F600}"}\r\n\tat a\n', 'JSON, line breaks and tabs'],
  ['\uFEFFa', 'a byte order mark'],
  ['\u2028\u0085', 'separators of other scripts'],
])('%j is a text (%s)', (text) => {
  expect(toShownBody(Buffer.from(text), false)).toEqual({ text, base64: null });
});

test.each([
  [[0xff, 0xfe], 'bytes that are not UTF-8'],
  [[0x61, 0xc3], 'half a character'],
  [[0xed, 0xa0, 0x80], 'half a surrogate pair'],
  [[0x61, 0x00], 'NUL'],
  [[0x1b, 0x5b, 0x33, 0x31, 0x6d], 'a sequence that controls a terminal'],
  [[0xc2, 0x9b, 0x32, 0x4a], 'one that begins with a single character'],
  [[0x1f, 0x8b, 0x08, 0x00], 'gzip'],
])('%j is shown as Base64 (%s)', (bytes) => {
  expect(toShownBody(Buffer.from(bytes), false)).toEqual(base64(bytes));
});

test('leaves out the character within which a text was cut', () => {
  const body = Buffer.from('aé').subarray(0, 2);
  expect(toShownBody(body, true)).toEqual({ text: 'a', base64: null });
  expect(toShownBody(Buffer.from([0x61, 0xff]), true)).toEqual(base64([0x61, 0xff]));
});

test('nothing was kept', () => {
  expect(toShownBody(null, true)).toEqual({ text: null, base64: null });
});
