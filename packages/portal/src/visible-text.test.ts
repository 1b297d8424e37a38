import { expect, test } from 'vitest';
import { beginningOf, segmentsOf } from './visible-text.ts';

test.each([
  ['plain\n\ttext', ['plain\n\ttext']],
  ['', []],
  ['a\0b', ['a', { mark: 'U+0000' }, 'b']],
  ['\r\n', [{ mark: 'U+000D' }, '\n']],
  ['\u202Eabc', [{ mark: 'U+202E' }, 'abc']],
  ['x\u200B\u200B\u200By', ['x', { mark: 'U+200B ×3' }, 'y']],
  ['\u2066\u2069', [{ mark: 'U+2066' }, { mark: 'U+2069' }]],
  ['\u{E0041}\u{E0041}', [{ mark: 'U+E0041 ×2' }]],
  ['\ud800', [{ mark: 'U+D800' }]],
  ['<b>é 😀</b>', ['<b>é 😀</b>']],
  // What a name of a subscription may contain.
  ...['❤️ x', '❤️‍🔥', '👨‍👩‍👧', 'می\u200Cخواهم', 'क्\u200Dष'].map((text): [string, object[] | string[]] => [text, [text]]),
  ['pay\u200Cpal', ['pay', { mark: 'U+200C' }, 'pal']],
  ['pay\u200D\u200Dpal', ['pay', { mark: 'U+200D ×2' }, 'pal']],
  ['می\u200C', ['می', { mark: 'U+200C' }]],
  ['\u200D👩', [{ mark: 'U+200D' }, '👩']],
  ['❤\uFE0F\uFE0F', ['❤\uFE0F', { mark: 'U+FE0F' }]],
])('marks what cannot be seen in %j', (text, segments) => {
  expect(segmentsOf(text)).toEqual(segments);
});

test('does not cut a character in two', () => {
  expect(beginningOf('a😀b', 2)).toBe('a');
  expect(beginningOf('a😀b', 3)).toBe('a😀');
});
