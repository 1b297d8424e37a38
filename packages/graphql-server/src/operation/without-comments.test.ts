import * as fc from 'fast-check';
import { Lexer, Source } from 'graphql';
import { expect, test } from 'vitest';
import { withoutComments } from './read-document.ts';

/** The tokens with their places, without comments; then the message of a lexical error, if there is one. */
function tokensOf(text: string): unknown[] {
  const lexer = new Lexer(new Source(text));
  const tokens: unknown[] = [];
  try {
    for (let token = lexer.advance(); token.kind !== '<EOF>'; token = lexer.advance()) {
      tokens.push([token.kind, token.value, token.line, token.column]);
    }
  } catch {
    tokens.push('error');
  }
  return tokens;
}

test.each([
  ['{a # b\n c}', '{a  \n c}'],
  ['#a\r\n#b\r{c}#d', ' \r\n \r{c} '],
  ['{a(b:"# c") #"d"\n}', '{a(b:"# c")  \n}'],
  [String.raw`{a(b:"\" # c" d:"\\") # "` + '\n}', String.raw`{a(b:"\" # c" d:"\\")  ` + '\n}'],
  ['{a(b:"""\n# c "" " \\""" # d\n""" e:"")#f\n}', '{a(b:"""\n# c "" " \\""" # d\n""" e:"") \n}'],
])('replaces comments, but not the contents of strings: %j', (text, expected) => {
  expect(withoutComments(text)).toBe(expected);
});

test('keeps the tokens, their places, and whether there is a lexical error', () => {
  const pieces = ['#', '"', '"""', '\\', '\n', '\r', ' ', 'a', '{', ',', '\\"""', '# "x"', '"#"', '1', '\\n', '🙂'];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(''));
  let withComments = 0;
  fc.assert(
    fc.property(text, (query) => {
      const stripped = withoutComments(query);
      if (stripped !== query) withComments += 1;
      expect(tokensOf(stripped)).toEqual(tokensOf(query));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 500), seed: 1 },
  );
  expect(withComments).toBeGreaterThan(100);
});
