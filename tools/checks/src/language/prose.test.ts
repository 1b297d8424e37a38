import { expect, test } from 'vitest';
import { proseOf } from './prose.ts';

const wordsOf = (path: string, text: string): string => proseOf(path, text).replaceAll(/\s+/g, ' ').trim();

test.each([
  ['a comment', 'const told = 1; // The reason.', '// The reason.'],
  ['a comment of several lines', '/**\n * One.\n * Two.\n */', '/** * One. * Two. */'],
  ['a string with a space', "throw new Error('It is late.');", "'It is late.'"],
  ['a template', 'throw new Error(`It is ${ms} ms late.`);', '`It is ${ms} ms late.`'],
  ['no name', "find('nobody', told)", ''],
  ['no regular expression', "test(/['\"`] said/, 'It is late.')", "'It is late.'"],
  ['no division', "const a = b / c / d; // It's the mean.", "// It's the mean."],
])('of a script, prose is %s', (_, text, expected) => {
  expect(wordsOf('a.ts', text)).toBe(expected);
});

test('of Markdown, prose is all but code', () => {
  expect(wordsOf('a.md', 'One `said` word.\n\n```sh\ntold\n```\n\nTwo.')).toBe('One `` word. Two.');
});

test('of other files, prose is everything', () => {
  expect(wordsOf('a.graphql', '"""\nA name.\n"""')).toBe('""" A name. """');
});

test.each(['a.ts', 'a.md'])('keeps the lines of %s', (path) => {
  const text = 'one\n```\ntwo\n```\n`three` // four\n';
  expect(proseOf(path, text).split('\n').length).toBe(text.split('\n').length);
});
