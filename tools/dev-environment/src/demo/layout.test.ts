import { describe, expect, test } from 'vitest';
import { cut, fit, layoutGraphqlRequest, layoutGraphqlResponse, layoutJson } from './layout.ts';

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

describe('fit', () => {
  test('keeps a line that fits', () => {
    expect(fit('11  The worker retries', 22)).toEqual(['11  The worker retries']);
  });

  test('continues in the column in which the prose began', () => {
    expect(fit('11  The worker retries the same body', 25)).toEqual(['11  The worker retries', '    the same body']);
    expect(fit('    the signature verifies', 20)).toEqual(['    the signature', '    verifies']);
    expect(fit('  dev --receiver  and print each webhook as it arrives', 40)).toEqual([
      '  dev --receiver  and print each webhook',
      '                  as it arrives',
    ]);
  });

  test('begins a new line where fewer than 20 columns are left beside the words before', () => {
    expect(fit('  dev --receiver  and print each webhook', 30)).toEqual([
      '  dev --receiver',
      '    and print each webhook',
    ]);
  });

  test('cuts an id, a signature and the extensions of a response, and a word that is longer than a line', () => {
    expect(fit('  "id": "gid://service/Lender/1",', 20)).toEqual(['  "id": "gid://serv…']);
    expect(fit('      webhook-signature: v1,PjPoQj7a', 30)).toEqual(['      webhook-signature: v1,P…']);
    expect(fit('      extensions: { "cost": 1, "version": 2 }', 30)).toEqual(['      extensions: { "cost": 1…']);
    expect(fit('a lender gid://service/Lender/1', 20)).toEqual(['a lender', 'gid://service/Lende…']);
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
