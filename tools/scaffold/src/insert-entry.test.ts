import { expect, test } from 'vitest';
import { insertEntry, insertImport } from './insert-entry.ts';

const list = { start: 'const list = [\n', end: '];', entry: /^ {2}'([^']+)',$/gm };
const text = "const other = ['a'];\nconst list = [\n  'b',\n  'd',\n];\n";

test.each([
  ['a', "[\n  'a',\n  'b',\n  'd',\n]"],
  ['c', "[\n  'b',\n  'c',\n  'd',\n]"],
  ['e', "[\n  'b',\n  'd',\n  'e',\n]"],
])('inserts %s in order', (key, expected) => {
  expect(insertEntry(text, list, key, `  '${key}',\n`)).toBe(`const other = ['a'];\nconst list = ${expected};\n`);
});

test('throws when the text does not contain the list', () => {
  expect(() => insertEntry('const other = [];\n', list, 'a', '')).toThrow(
    'Cannot find the list after "const list = [".',
  );
});

test('inserts an import before the first one of a file', () => {
  expect(insertImport("import { z } from 'zod';\nimport { a } from './a.ts';\n", "import { b } from './b.ts';")).toBe(
    "import { z } from 'zod';\nimport { b } from './b.ts';\nimport { a } from './a.ts';\n",
  );
});
