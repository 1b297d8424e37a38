import { describe, expect, test } from 'vitest';
import { compareGraphql } from './compare-graphql.ts';

function compare(from: string, to: string, partial = true): string[] {
  const [old, now] = [from, to].map((text, i) => ({ file: `${i}.graphql`, text }));
  if (old === undefined || now === undefined) throw new Error('unreachable');
  return compareGraphql(old, now, { partial }).changes.map(
    ({ verdict, rule, coordinate }) => `${verdict} ${rule} ${coordinate}`,
  );
}

const types = 'type Product {\n  id: ID!\n  price: Int\n}\n';

describe('a part of a schema', () => {
  test.each([
    ['an extension of a type that another part defines', 'extend type Query {\n  a: Int\n  price: Int\n}\n'],
    ['types without a query type', types],
    ['a type of another part', 'extend type Query {\n  money: Money\n  price: Int\n}\n'],
    ['an interface of another part', 'type A implements Node {\n  id: ID!\n  price: Int\n}\n'],
    ['a member of another part', 'extend union U = Other\ntype A {\n  id: ID\n  price: Int\n}\n'],
    [
      'an extension without the fields of its interface',
      `interface Node {\n  id: ID!\n}\nextend type B implements Node\n${types}`,
    ],
    ['an extension with a key', `extend type Entity @key(fields: "id")\n${types}`],
    ['an input type', 'extend input Filter {\n  price: Int\n}\n'],
  ])('can be %s', (_, sdl) => {
    expect(compare(sdl, sdl)).toEqual([]);
    const removed = compare(sdl, sdl.replace('  price: Int\n', '  other: Int\n'))[0];
    expect(removed).toMatch(/^major graphql\/(?:fieldRemoved|inputRemoved) \w+\.price$/);
    expect(() => compare(sdl, sdl, false)).toThrow(/^1\.graphql/);
  });

  test.each([
    ['an unknown kind of member', 'union U = A | Filter\ninput Filter { a: Int }\ntype A { a: Int }', 'Filter'],
    ['an interface with another type', 'interface I { a: Int }\ntype A implements I { a: String }', 'I.a'],
    ['two definitions', 'type A { a: Int }\ntype A { b: Int }', '"A"'],
  ])('must be valid: %s', (_, sdl, name) => {
    expect(() => compare(sdl, sdl)).toThrow(name);
  });

  test('counts every type as reachable', () => {
    const sdl = 'type Query {\n  a: Int\n}\nenum Unit {\n  KG\n  LB\n}\n';
    const to = sdl.replace('  LB\n', '');
    expect(compare(sdl, to)).toEqual(['major graphql/enumValueRemovedInput Unit.LB']);
    expect(compare(sdl, to, false)).toEqual(['patch graphql/unreachableBroken Unit.LB']);
  });
});
