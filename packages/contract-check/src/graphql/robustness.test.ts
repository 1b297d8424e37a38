import { describe, expect, test } from 'vitest';
import { chainOfTypes } from '../../test/support/chains.ts';
import { compareGraphql } from './compare-graphql.ts';

const valid = 'type Query { a: String }';
const read = (text: string) => compareGraphql({ file: 'a.graphql', text: valid }, { file: 'b.graphql', text });

describe('an invalid schema', () => {
  test.each([
    ['', 'b.graphql:1: the file is empty, expected a GraphQL schema'],
    [' \n\t', 'b.graphql:1: the file is empty, expected a GraphQL schema'],
    ['type Query {\n  a: String\n', 'b.graphql:3: Syntax Error: Expected Name, found <EOF>.'],
    ['type Query {\n  a: \n}', 'b.graphql:3: Syntax Error: Expected Name, found "}".'],
    ['type Query {\n  a: Foo\n}', 'b.graphql:2: Unknown type "Foo". Define it in one of the files, or pass --partial'],
    ['type Query { a: T @aws }', 'Unknown type "T". Define it in one of the files, or pass --partial'],
    ['extend type Query {\n  a: Int\n}', 'it is not defined. Define it in one of the files, or pass --partial'],
    ['type Query implements A B { a: Int }', 'Unexpected Name "B". Separate interfaces by &: implements A & B.'],
    ['type Query implements A, B { a: Int }', 'Unexpected Name "B". Separate interfaces by &: implements A & B.'],
    [
      'type Query {\n  a: Int\n}\ntype E { }',
      'b.graphql:4: Syntax Error: Expected Name, found "}". A type without fields',
    ],
    [
      'type Query {\n  a: Int\n}\n# Query\ntype Query {\n  b: Int\n}',
      'b.graphql:5: There can be only one type named "Query".',
    ],
    ['type Query {\n  a: Int\n  a: Int\n}', 'b.graphql:3: Field "Query.a" can only be defined once.'],
    ['type Query {\n  a: Int @include(unless: 1)\n}', 'b.graphql:2: '],
    [
      'type Query {\n  a: Int\n}\ntype A implements B {\n  x: Int\n}\ninterface B {\n  y: Int\n}',
      'b.graphql:8: Interface field B.y expected',
    ],
    ['type A {\n  a: Int\n}', 'b.graphql: Query root type must be provided.'],
    ['query {\n  a\n}', 'b.graphql:1: expected a GraphQL schema, found an operation or fragment'],
    [`type Query {\n  a: ${'['.repeat(100_000)}Int${']'.repeat(100_000)}\n}`, 'b.graphql: is nested too deeply'],
    ['\u0000', 'b.graphql:1: Syntax Error: Unexpected character: U+0000.'],
  ])('is reported with its line, case %#', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

test('compares an invalid old schema that can be parsed', () => {
  const from = 'enum E { A }\ntype T\ntype Query { a(e: E = "A"): Int b: Lost b: Lost }';
  const to = 'enum E { A }\ntype Query { a(e: E = A): Int }';
  const { changes, notices } = compareGraphql({ file: 'a', text: from }, { file: 'b', text: to });
  expect(changes.map(({ rule, coordinate }) => [rule, coordinate])).toEqual([
    ['graphql/defaultChanged', 'Query.a(e:)'],
    ['graphql/fieldRemoved', 'Query.b'],
    ['graphql/unreachableBroken', 'T'],
  ]);
  expect(notices).toEqual([
    { location: { file: 'a', line: 3 }, message: expect.stringContaining('The old version is invalid: ') },
  ]);
});

test('treats names of Object.prototype as ordinary names', () => {
  const sdl = 'type constructor { toString: Int } type Query { hasOwnProperty: constructor valueOf: Int }';
  const { changes } = compareGraphql({ file: 'a', text: sdl }, { file: 'b', text: sdl.replace('valueOf: Int', '') });
  expect(changes.map(({ coordinate }) => coordinate)).toEqual(['Query.valueOf']);
});

test('compares a chain of 2,000 types', () => {
  const { from, to } = chainOfTypes(2_000);
  const report = compareGraphql({ file: 'a', text: from }, { file: 'b', text: to });
  expect(report.changes).toHaveLength(2_000);
});
