import { describe, expect, test } from 'vitest';
import { findPhrases, phrases } from './phrases.ts';

const found = (path: string, text: string): [line: number, phrase: string][] =>
  findPhrases(path, text).map(({ line, phrase }) => [line, phrase]);

describe('finds a phrase', () => {
  test('in a page, with its line and its replacement', () => {
    expect(findPhrases('docs/page.md', '# Title\n\nThe version is not served any more.\n')).toEqual([
      { line: 3, phrase: 'any more', replacement: '"no longer" with a positive verb' },
    ]);
  });

  test('without regard to case', () => {
    expect(found('docs/page.md', 'Whoever asks. NOBODY.')).toEqual([
      [1, 'Whoever'],
      [1, 'NOBODY'],
    ]);
  });

  test.each([
    ['page.md', 'It is served any\nmore.'],
    ['page.md', '> It is served any\n> more.'],
    ['file.ts', '// It is served any\n// more.'],
    ['file.ts', '/**\n * It is served any\n * more.\n */'],
    ['file.sql', '-- It is served any\n-- more.'],
    ['file.yml', '# It is served any\n# more.'],
  ])('across a line break in %s: %j', (path, text) => {
    expect(found(path, text).map(([, phrase]) => phrase)).toEqual(['any more']);
  });

  test.each([
    ['file.ts', "throw new Error('The database is away.');"],
    ['file.ts', 'const text = `request ${id} is under way`;'],
    ['file.ts', "test('it is tried again', () => {});"],
    ['schema.graphql', '"""\nOnly those that stand like this.\n"""'],
    ['data.json', '{ "description": "A lane of its own." }'],
  ])('in a string or a description in %s: %s', (path, text) => {
    expect(found(path, text)).toHaveLength(1);
  });
});

describe('ignores', () => {
  test.each([
    ['identifiers', 'const nobody = await find(whoever);'],
    ['strings without a space, which are data', "const url = 'postgres://nobody@localhost/test';"],
    ['longer words', '// Amend the recommendation; telltale offline.'],
    ['words with a hyphen', '// An at-once-only flag.'],
    ['phrases across two statements', "const any = 'x';\nmore('some text');"],
    ['"any more than"', '// It is not slower any more than before.'],
  ])('%s', (_, text) => {
    expect(found('file.ts', text)).toEqual([]);
  });

  test('a phrase with a reason on its line or on the line before', () => {
    expect(found('file.ts', "const user = 'run as nobody'; // phrase-ok: a Unix user")).toEqual([]);
    expect(found('page.md', '<!-- phrase-ok: a quotation -->\nnobody')).toEqual([]);
  });
});

test('a mark without a reason does not allow a phrase', () => {
  expect(found('file.ts', '// phrase-ok:\n// nobody')).toEqual([[2, 'nobody']]);
});

test('no replacement contains a phrase', () => {
  expect(phrases.filter(([, replacement]) => found('page.md', replacement).length > 0)).toEqual([]);
});
