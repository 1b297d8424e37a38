import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../input-error.ts';
import { canonicalJson } from './json-value.ts';
import { parseJson } from './parse-json.ts';

const parse = (text: string) => parseJson({ file: 'a.json', text });

describe('parseJson', () => {
  test('parses every text like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(JSON.parse(canonicalJson(parse(text).value))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('rejects the texts that JSON.parse rejects, and duplicate names', () => {
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
        let message = '';
        try {
          parse(text);
        } catch (error) {
          message = error instanceof InputError ? error.message : `not an InputError: ${String(error)}`;
        }
        expect(message).toMatch(valid ? /^$|duplicate name/ : /^a\.json:\d+: /);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 400) },
    );
  });

  test.each([
    ['', 'a.json:1: the file is empty'],
    [' \n ', 'a.json:1: the file is empty'],
    ['{\n  "a": 1,\n  "a": 2\n}', 'a.json:3: duplicate name "a" in one object'],
    ['{\n  "a": }', "a.json:2: is not JSON: Unexpected token '}'"],
    ['{"a" 1}', "a.json:1: is not JSON: Expected ':' after property name"],
    ['[1 2]', "a.json:1: is not JSON: Expected ',' or ']' after array element"],
    ['{\n"a": "x\n"}', 'a.json:2: is not JSON: Bad control character in string literal'],
    ['{1: 2}', "a.json:1: is not JSON: Expected property name or '}'"],
    ['{}\n\n{}', 'a.json:3: is not JSON: Unexpected non-whitespace character after JSON'],
    ['[\n1,\n', 'a.json:2: is not JSON: Unexpected end of JSON input'],
    ['["a\nb', 'a.json:1: is not JSON: Bad control character in string literal'],
    [`${'['.repeat(600)}${']'.repeat(600)}`, 'a.json:1: is nested deeper than 500 levels'],
    ['['.repeat(100_000), 'a.json:1: is nested deeper than 500 levels'],
  ])('reports the line and the problem of %j', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('finds the line of a value by its JSON Pointer', () => {
    const document = parse('{\n  "a/b": [\n    1,\n    2\n  ]\n}');
    expect(document.lineOf('')).toBe(1);
    expect(document.lineOf('/a~1b/1')).toBe(4);
    expect(document.lineOf('/c')).toBeNull();
  });

  test('skips a byte order mark', () => {
    const document = parse('\uFEFF{\n"a": true}');
    expect([document.value, document.lineOf('/a')]).toEqual([{ a: true }, 2]);
  });

  test.each(['a.yaml', 'schemas/a.YML', 'git:main:a.yml'])('states that it does not read YAML: %s', (file) => {
    const problem = /:1: is not JSON: Unexpected token '\w'. YAML is not read: convert the file to JSON$/;
    expect(() => parseJson({ file, text: 'type: object' })).toThrow(problem);
    expect(parseJson({ file, text: '{}' }).value).toEqual({});
  });
});
