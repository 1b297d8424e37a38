import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../input-error.ts';
import { parseJson } from './parse-json.ts';

const parse = (text: string) => parseJson({ file: 'a.json', text });

describe('parseJson', () => {
  test('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parse(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  test('refuses what JSON.parse refuses, and nothing else but duplicate names', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"b"',
      '1',
      '-0',
      '01',
      '1e5',
      'true',
      ' ',
      '\n',
      '"\\u00',
      "'",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        let refusal = '';
        try {
          parse(text);
        } catch (error) {
          refusal = error instanceof InputError ? error.message : `not an InputError: ${String(error)}`;
        }
        expect(refusal).toMatch(valid ? /^$|stands twice/ : /^a\.json:\d+: /);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['', 'a.json:1: is empty'],
    [' \n ', 'a.json:1: is empty'],
    ['{\n  "a": 1,\n  "a": 2\n}', 'a.json:3: the name "a" stands twice in one object'],
    ['{\n  "a": }', 'a.json:2: a value is expected, not "}"'],
    ['{"a" 1}', 'a.json:1: ":" is expected, not "1"'],
    ['[1 2]', 'a.json:1: "," or "]" is expected, not "2"'],
    ['{"a": "x\n"}', 'a.json:1: a string is not closed or not valid'],
    ['{1: 2}', 'a.json:1: a string is expected, not "1"'],
    ['{}\n\n{}', 'a.json:3: the end of the file is expected, not "{"'],
    ['[', 'a.json:1: a value is expected, not the end of the file'],
    ['['.repeat(100_000), 'a.json:1: is nested deeper than 500 levels'],
  ])('names the line: %j', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('tells the line of a value', () => {
    const document = parse('{\n  "a/b": [\n    1,\n    2\n  ]\n}');
    expect(document.lineOf('')).toBe(1);
    expect(document.lineOf('/a~1b/1')).toBe(4);
    expect(document.lineOf('/c')).toBeNull();
  });

  test('keeps a member named __proto__', () => {
    expect(JSON.stringify(parse('{"__proto__":1}').value)).toBe('{"__proto__":1}');
  });
});
