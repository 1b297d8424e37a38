import { expect, test } from 'vitest';
import { terminalJson, terminalText } from './terminal-text.ts';

const hostile = 'a\u001B[2Jb\u009B2Jc\rd\u202Ee\n\tf\u0000g\u007Fh\u{E0001}é€😀';

test('a text shows control characters, and those that change the direction, instead of sending them to a terminal', () => {
  expect(terminalText(hostile)).toBe(
    'a\\u001b[2Jb\\u009b2Jc\\u000dd\\u202ee\\u000a\\u0009f\\u0000g\\u007fh\\u{e0001}é€😀',
  );
  expect(terminalText(hostile, { keepsLines: true })).toContain('e\n\tf');
});

test('JSON contains none of them, and is the same document', () => {
  const json = terminalJson({ hostile });
  expect(json).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
  expect(JSON.parse(json)).toEqual({ hostile });
});
