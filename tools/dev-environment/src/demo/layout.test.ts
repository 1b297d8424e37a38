import { describe, expect, test } from 'vitest';
import { cut, layoutGraphqlRequest, layoutGraphqlResponse, layoutJson, outputWidth } from './layout.ts';

describe('outputWidth', () => {
  test('is the width of the terminal', () => {
    expect(outputWidth({ columns: 80 })).toBe(80);
  });

  test('is 100 for a pipe, and for a terminal that does not know its size', () => {
    expect(outputWidth({})).toBe(100);
    expect(outputWidth({ columns: 0 })).toBe(100);
  });
});

describe('cut', () => {
  test('keeps a line that fits', () => {
    expect(cut('abcdef', 6)).toBe('abcdef');
  });

  test('ends a longer line with … in the last column', () => {
    expect(cut('abcdefg', 6)).toBe('abcde…');
  });

  test('counts a character outside the basic plane once, and never halves it', () => {
    expect(cut('𝒜𝒷𝒸𝒹', 4)).toBe('𝒜𝒷𝒸𝒹');
    expect(cut('𝒜𝒷𝒸𝒹', 3)).toBe('𝒜𝒷…');
  });

  test('keeps a letter and its combining accent together', () => {
    expect(cut('e\u0301e\u0301e\u0301', 3)).toBe('e\u0301e\u0301e\u0301');
    expect(cut('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
  });
});

describe('layoutJson', () => {
  test('keeps what fits on one line', () => {
    expect(layoutJson('{"a":[1,{"b":null}],"c":{},"d":[]}', 45)).toEqual([
      '{ "a": [1, { "b": null }], "c": {}, "d": [] }',
    ]);
  });

  test('gives each member its own line where the whole does not fit', () => {
    expect(layoutJson('{"name":"Ada","roles":["reader","writer"],"team":{"id":1,"name":"A"}}', 28)).toEqual([
      '{',
      '  "name": "Ada",',
      '  "roles": [',
      '    "reader",',
      '    "writer"',
      '  ],',
      '  "team": {',
      '    "id": 1,',
      '    "name": "A"',
      '  }',
      '}',
    ]);
  });

  test('keeps an only member on the line of its parent', () => {
    expect(layoutJson('{"data":{"errors":[{"code":"A","line":1}]}}', 20)).toEqual([
      '{ "data": { "errors": [{',
      '  "code": "A",',
      '  "line": 1',
      '}] } }',
    ]);
  });

  test('returns the lines of a text that is not JSON unchanged', () => {
    expect(layoutJson('Bad {gateway}\nTry again', 10)).toEqual(['Bad {gateway}', 'Try again']);
  });
});

describe('layoutGraphqlRequest', () => {
  test('shows the lines of the document, then the variables', () => {
    expect(layoutGraphqlRequest('query ($id: ID!) {\n  a(id: $id)\n}', { id: 'x' }, 80)).toEqual([
      'query ($id: ID!) {',
      '  a(id: $id)',
      '}',
      'variables: { "id": "x" }',
    ]);
  });

  test('shows only the document without variables', () => {
    expect(layoutGraphqlRequest('{ a }', undefined, 80)).toEqual(['{ a }']);
  });
});

describe('layoutGraphqlResponse', () => {
  test('shows the members of the response one after the other, and extensions on one line', () => {
    expect(
      layoutGraphqlResponse('{"data":{"a":"1234567890","b":"1234567890"},"extensions":{"cost":[1,2,3]}}', 20),
    ).toEqual(['data: {', '  "a": "1234567890",', '  "b": "1234567890"', '}', 'extensions: { "cost": [1, 2, 3] }']);
  });

  test('returns the lines of a text that is not JSON unchanged', () => {
    expect(layoutGraphqlResponse('Bad gateway\nTry again', 10)).toEqual(['Bad gateway', 'Try again']);
  });
});
