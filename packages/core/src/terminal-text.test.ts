import { expect, test } from 'vitest';
import { terminalText } from './terminal-text.ts';

const hostile = 'a\u001B[2Jb\u009B2Jc\rd\u202Ee\n\tf\u0000g\u007Fh\u{E0001}i\u200Bj\uFE0Fk\u3164é€😀';

test('a text shows control characters, and those without a width or with a direction, instead of sending them to a terminal', () => {
  expect(terminalText(hostile)).toBe(
    'a\\u001b[2Jb\\u009b2Jc\\u000dd\\u202ee\\u000a\\u0009f\\u0000g\\u007fh\\udb40\\udc01i\\u200bj\\ufe0fk\\u3164é€😀',
  );
  expect(terminalText(hostile, { keepsLines: true })).toContain('e\n\tf');
});

test('JSON contains none of them, and is the same document', () => {
  const json = terminalText(JSON.stringify({ hostile }, null, 2), { keepsLines: true });
  expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
  expect(JSON.parse(json)).toEqual({ hostile });
});
