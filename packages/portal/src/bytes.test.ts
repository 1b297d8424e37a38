import { expect, test } from 'vitest';
import { bytesOfBase64, bytesOfText, hexOf, indentJson, sha256Of } from './bytes.ts';

test('shows bytes as hex and ASCII, 16 a line', () => {
  expect(hexOf(bytesOfText('{"id":"é\0 0123456"}').bytes)).toBe(
    '00000000  7b 22 69 64 22 3a 22 c3 a9 00 20 30 31 32 33 34  {"id":"... 01234\n' +
      '00000010  35 36 22 7d                                      56"}',
  );
  expect(hexOf(new Uint8Array())).toBe('');
});

test('decodes base64, and has no text of what is not UTF-8', () => {
  expect(bytesOfBase64('/wA=')).toEqual({ bytes: Uint8Array.of(255, 0), text: null });
  expect(bytesOfBase64('77u/YQ==').text).toBe('\ufeffa');
});

test('computes SHA-256', async () => {
  expect(await sha256Of(bytesOfText('').bytes)).toMatch(/^e3b0c44298fc1c14.*b855$/);
});

test('indents JSON without a change of its tokens', () => {
  expect(indentJson('{"a":[1.50,{}, []],"b\\"{":"x, y:\\u0041"}')).toBe(
    '{\n  "a": [\n    1.50,\n    {},\n    []\n  ],\n  "b\\"{": "x, y:\\u0041"\n}',
  );
  expect(indentJson('<h1>not json</h1>')).toBeNull();
});
