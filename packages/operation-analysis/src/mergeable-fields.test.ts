import { fail } from 'node:assert/strict';
import { richSchema, writeRandomDocument } from '@deedwire/testing';
import * as fc from 'fast-check';
import { OverlappingFieldsCanBeMergedRule, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { checkMergeableFields } from './mergeable-fields.ts';

const maxErrors = 10;
const otherRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** Returns the messages of our check. */
function check(query: string, maxVisits = 20_000): string[] {
  const document = parse(query);
  expect(validate(richSchema, document, otherRules)).toEqual([]);
  return checkMergeableFields(richSchema, document, { maxVisits, maxErrors }).errors.map(({ message }) => message);
}

const visitsOf = (count: number) =>
  checkMergeableFields(richSchema, parse(`{${'user{name}'.repeat(count)}}`), { maxVisits: 20_000, maxErrors }).visits;

const hint = 'Use different aliases on the fields to fetch both if this was intentional.';

describe('rejects', () => {
  test.each([
    ['different fields', '{user{name name:old}}', '"name" because "name" and "old" are different fields'],
    ['different arguments', '{user(id:1){name} user(id:2){name}}', '"user" because they have differing arguments'],
    ['a missing argument', '{user{name} user(id:2){name}}', '"user" because they have differing arguments'],
    [
      'a block string and another string',
      '{user(name:"x"){name} user(name:"""x"""){name}}',
      '"user" because they have differing arguments',
    ],
    [
      'different variables',
      'query($a:ID $b:ID){user(id:$a){name} user(id:$b){name}}',
      '"user" because they have differing arguments',
    ],
    [
      'fields below fields that are merged',
      '{user{friends{x:name}} ...F} fragment F on Root{user{friends{x:old}}}',
      '"x" because "name" and "old" are different fields',
    ],
    [
      'leaf types of objects that exclude each other',
      '{pets{...on Cat{x:size}...on Dog{x:size}}}',
      '"x" because they return conflicting types "Float" and "Int"',
    ],
    [
      'types below objects that exclude each other',
      '{pets{...on Cat{owner{name}}...on Dog{owner{name:size}}}}',
      '"name" because they return conflicting types "String" and "Float"',
    ],
    [
      'a list and an object',
      '{thing{...on User{x:friends{name}}...on Cat{x:owner{name}}}}',
      '"x" because they return conflicting types "[User]" and "Named"',
    ],
    [
      'an interface and an object with another field',
      '{named{name ...on Cat{name:url}}}',
      '"name" because "name" and "url" are different fields',
    ],
    [
      'a nullable field of an interface and the same, required field of an object',
      '{named{name ...on User{name}}}',
      '"name" because they return conflicting types "String" and "String!"',
    ],
  ])('%s', (_, query, expected) => {
    expect(check(query)).toEqual([`Fields ${expected.replace(/^("\w+")/, '$1 conflict')}. ${hint}`]);
  });

  test('each conflict once, at the fields that conflict', () => {
    const document = parse('{user{a:name a:old a:old b:url b:old} a:named{name} a:pets{__typename}}');
    const { errors } = checkMergeableFields(richSchema, document, { maxVisits: 100, maxErrors });
    expect(errors.map(({ locations }) => locations?.map(({ column }) => column))).toEqual([
      [7, 14],
      [26, 32],
      [39, 53],
    ]);
  });

  test('no more conflicts than one beyond the limit', () => {
    const query = Array.from({ length: 50 }, (_, i) => `query Q${i}{user{a:name a:old}}`).join(' ');
    expect(check(query)).toHaveLength(11);
  });

  test('a document with more visits than allowed', () => {
    expect(check('{user{name name name}}', 4)).toEqual([]);
    expect(() => check('{user{name name name}}', 3)).toThrow(
      'The document selects more than 3 fields when its fragments are expanded.',
    );
  });
});

test.each([
  ['the same field', '{user(id:1){name name} user(id:1){name}}'],
  ['arguments in another order', '{user(id:1 name:"x"){name} user(name:"x" id:1){name}}'],
  ['input fields in another order', '{user(filter:{kind:CAT old:1}){name} user(filter:{old:1 kind:CAT}){name}}'],
  [
    'other fields of objects that exclude each other',
    '{pets{...on Cat{x:name}...on Dog{x:friends{x:name}}}}'.replace('x:friends{x:name}', 'x:name'),
  ],
  [
    'other arguments of objects that exclude each other',
    '{thing{...on User{age(unit:"a")}...on Dog{y:age(unit:"b")}}}',
  ],
  ['the same names in two operations', 'query A{user{a:name}} query B{user{a:old}}'],
])('accepts %s', (_, query) => {
  expect(check(query)).toEqual([]);
});

test('visits a field that is repeated once for each repetition, and the fields below it likewise', () => {
  expect([visitsOf(10), visitsOf(100), visitsOf(1000)]).toEqual([20, 200, 2000]);
});

test('visits the fields below a field of a fragment once for all operations that spread it', () => {
  const query = 'query A{...F} query B{...F} fragment F on Root{user{name old url}}';
  const { visits } = checkMergeableFields(richSchema, parse(query), { maxVisits: 100, maxErrors });
  expect(visits).toBe(7);
});

// `test/full` and `test/long` compare more and larger documents.
test('gives the same verdict as the rule of graphql', () => {
  let accepted = 0;
  let rejected = 0;
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const choose = (below: number) => gen(fc.nat, { max: below - 1 });
      const query = writeRandomDocument(richSchema, choose, { depth: 4, width: 4, fragments: 3 });
      const document = parse(query);
      if (validate(richSchema, document, otherRules).length > 0) return;
      const expected = validate(richSchema, document, [OverlappingFieldsCanBeMergedRule]);
      const { errors } = checkMergeableFields(richSchema, document, { maxVisits: 20_000, maxErrors });
      if (errors.length > 0 !== expected.length > 0) fail(`${query}\n${String(expected[0])}\n${String(errors[0])}`);
      if (errors.length > 0) rejected += 1;
      else accepted += 1;
    }),
    { numRuns: Number(process.env['RUNS'] ?? 150), seed: 1, endOnFailure: true },
  );
  // Otherwise the comparison would say little.
  expect(Math.min(accepted, rejected)).toBeGreaterThan(8);
});
