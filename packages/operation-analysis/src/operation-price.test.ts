import { missing } from '@deedwire/testing';
import { buildSchema, getOperationAST, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createPricing, type OperationPrice } from './operation-price.ts';

const schema = buildSchema(/* GraphQL */ `
  type Query {
    me: Owner!
    owner(id: ID!): Owner
    ledgers(first: Int = 20, after: String): LedgerConnection!
    few(first: Int = 20): LedgerConnection!
    letters(first: Int = 20): LetterConnection
    owners(ids: [ID!]! = ["1"]): [Owner]!
  }
  type Mutation {
    rename(name: String!): Owner
  }
  type Owner {
    id: ID!
    motto: String
    helpers: [Owner!]!
    days(hours: Int = 24): [Day!]!
  }
  type Day {
    events: Int!
  }
  type LetterConnection {
    edges: [LetterEdge!]!
    nodes: [Letter!]!
  }
  type LetterEdge {
    node: Letter!
  }
  type Letter {
    id: ID!
    text: String
    copies: [Letter!]!
  }
  type LedgerConnection {
    edges: [LedgerEdge!]!
    nodes: [Ledger!]!
    total: Int!
  }
  type LedgerEdge {
    cursor: String!
    node: Ledger!
  }
  type Ledger {
    id: ID!
    note: String
    memo: String
    tags: [String!]!
    owner: Owner
  }
`);
const pricing = createPricing(schema, {
  costs: {
    weights: { 'Ledger.note': 5, 'Ledger.memo': 7, 'Letter.text': 30, 'Mutation.rename': 10, 'Owner.motto': 0.5 },
    pageMaximums: { 'Letter.text': 40 },
    listSizes: { 'Letter.copies': 2, 'Owner.days': 168, 'Owner.helpers': 50, 'Query.few': 4, 'Query.owners': 30 },
    pageSizeMaximum: 100,
  },
  operationCostPoints: 1000,
  alternatives: [['Ledger.note', 'Ledger.memo']],
});

interface Options {
  variables?: Record<string, unknown>;
  operationName?: string;
}

function price(query: string, { variables = {}, operationName }: Options = {}): OperationPrice {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  return pricing.price(document, getOperationAST(document, operationName) ?? missing(), variables);
}

const requested = (query: string, options?: Options): number => price(query, options).requestedQueryCost;

test('a list of `hours` has as many items, and never more than its size', () => {
  const query = 'query ($hours: Int) { me { days(hours: $hours) { events } } }';
  const of = (hours: unknown): number => requested(query, { variables: { hours } });
  expect([1, 100, 168, 10_000, 0, -1].map(of)).toEqual([3, 104, 175, 175, 1, 1]);
  expect([requested(query), of(null), requested('{ me { days { events } } }')]).toEqual([26, 26, 26]);
});

test('a list of `ids` in a variable has as many items', () => {
  const query = 'query ($ids: [ID!]! = ["1", "2"]) { owners(ids: $ids) { motto } }';
  expect(requested(query, { variables: { ids: ['1', '2', '3', '4'] } })).toBe(6);
  expect(requested(query)).toBe(3);
  expect(requested(query, { variables: { ids: Array.from({ length: 1000 }, String) } })).toBe(45);
  // Not a list: the list size, until the variable is rejected or turned into a list of one.
  expect(requested(query, { variables: { ids: '1' } })).toBe(45);
});

const text = (length: number): object => ({ text: 'x'.repeat(length) });

describe('a text with a page maximum', () => {
  test.each([
    ['one of a page', '{ letters(first: 1) { nodes { text } } }', 32], // 1 + 1 + 30
    ['those of a page', '{ letters(first: 100) { nodes { text } } }', 141], // 1 + 100 + 40
    ['those of edges', '{ letters(first: 100) { edges { node { text } } } }', 241], // 1 + 200 + 40
    ['another name', '{ letters(first: 9) { nodes { text a: text } } }', 91], // 1 + 9 × 1.03 + 2 × 40
    ['edges and nodes', '{ letters(first: 9) { nodes { text } edges { node { text } } } }', 108], // 1 + 9 + 18 + 2 × 40
    ['two pages', '{ letters(first: 9) { nodes { text } } b: letters(first: 9) { nodes { text } } }', 101],
    ['a list in a page', '{ letters(first: 2) { nodes { copies { text } } } }', 127], // 1 + 2 + 4 × 31
  ])('%s', (_, query, points) => expect(requested(query)).toBe(points));

  test('costs its characters in the end', () => {
    const query = '{ letters(first: 100) { nodes { text } } }';
    expect(price(query).priceOf({ letters: null })).toBe(1);
    expect(price(query).priceOf({ letters: { nodes: [] } })).toBe(1);
    expect(price(query).priceOf({ letters: { nodes: [text(29_000), text(9_000), { text: null }] } })).toBe(43); // 1 + 3 + 38.09
    expect(price(query).priceOf({ letters: { nodes: [{ text: '"'.repeat(1000) }] } })).toBe(5); // 1 + 1 + 2.03
  });

  test('depends on a variable', () => {
    const query = 'query ($first: Int) { letters(first: $first) { nodes { text } } }';
    expect(requested(query, { variables: { first: 1 } })).toBe(32);
    expect(requested(query, { variables: { first: 2 } })).toBe(43);
    expect(requested(query)).toBe(61);
  });

  test('is named with what it costs by an operation that costs too much', () => {
    const pages = Array.from({ length: 8 }, (_, index) => `a${index}: letters(first: 100) { edges { node { text } } }`);
    expect(() => price(`{ ${pages.join(' ')} }`)).toThrow('The most expensive field is a0.edges, with 100 points.');
  });
});

describe('the requested cost', () => {
  test.each([
    ['nothing but a type name', '{ __typename }', 1],
    ['an object with a field', '{ me { id } }', 2], // 1 + 0.03
    ['a weight of 0.5', '{ me { motto a: motto b: motto } }', 3], // 1 + 1.5
    ['a list with a size', '{ me { helpers { __typename } } }', 53], // 1 + 50 × 1.03
    ['lists in lists', '{ me { helpers { a: __typename } other: helpers { id } } }', 106], // 1 + 2 × 50 × 1.03 + 50 × 0.03 + 0.03
    ['a list of literal `ids`', '{ owners(ids: ["1", "2", "3"]) { motto } }', 5], // 3 × 1.5
    ['no `ids`', '{ owners(ids: []) { motto } }', 1],
    ['more `ids` than the list size, which fail', `{ owners(ids: [${'1 '.repeat(40)}]) { motto } }`, 45], // 30 × 1.5
    ['an omitted `first`', '{ ledgers { nodes { id } } }', 22], // 1 + 20 × 1.03
    ['`first: null`, which selects the default', '{ ledgers(first: null) { nodes { id } } }', 22],
    ['a literal `first`', '{ ledgers(first: 100) { nodes { note } } }', 601], // 1 + 100 × 6
    ['a `first` above the maximum, which fails', '{ ledgers(first: 100000) { nodes { note } } }', 601],
    ['a negative `first`, which fails', '{ ledgers(first: -5) { nodes { note } } }', 1],
    ['both lists of a page', '{ ledgers(first: 10) { nodes { note } edges { cursor node { id } } } }', 82],
    ['a connection with a list size', '{ few(first: 100) { nodes { note } } }', 25], // 1 + 4 × 6
    ['a list of scalars, as one field', '{ ledgers(first: 100) { nodes { tags } } }', 104],
    ['each alias', '{ a: ledgers(first: 50) { nodes { note } } b: ledgers(first: 50) { nodes { note } } }', 603], // 602 + 2 × 0.03
    ['a mutation', 'mutation { rename(name: "x") { id } }', 11], // 10 + 0.03
    ['fields of an inline fragment', '{ ... on Query { ... { ledgers(first: 100) { nodes { note } } } } }', 601],
  ])('of %s', (_, query, points) => {
    expect(requested(query)).toBe(points);
  });

  test('counts a fragment wherever it is spread', () => {
    const fragment = 'fragment F on LedgerConnection { nodes { note } }';
    expect(requested(`{ a: few { ...F } b: few { ...F ...F } c: few { total } } ${fragment}`)).toBe(52);
  });

  test('counts fields of the same response name once, and each repetition as a field that is not executed', () => {
    expect(requested('{ me { id } }')).toBe(2);
    expect(requested(`{ me { ${'id '.repeat(401)} } }`)).toBe(14); // 1 + 0.03 + 400 × 0.03
    expect(requested('{ few { nodes { note } } ...F } fragment F on Query { few { nodes { id note } } }')).toBe(26);
  });

  test('counts the fields of other operations as fields that are not executed', () => {
    const others = `query B { me { ${'id '.repeat(199)} } }`; // 200 fields
    expect(requested(`query A { me { id } } ${others}`, { operationName: 'A' })).toBe(8); // 1.03 + 6
  });

  test('counts aliases and the characters by which they are longer than the names of their fields', () => {
    expect(requested('{ ledgers(first: 100) { nodes { x: id } } }')).toBe(107); // 1 + 100 × (1 + 0.03 + 0.03)
    expect(requested('{ ledgers(first: 100) { nodes { x23: id } } }')).toBe(108);
    expect(requested(`{ ledgers(first: 100) { nodes { ${'a'.repeat(1002)}: id } } }`)).toBe(207);
    expect(requested(`{ ledgers(first: 100) { nodes { ${'a'.repeat(1005)}: owner { id } } } }`)).toBe(307);
  });

  test.each([
    ['has a value', { n: 100 }, 601],
    ['is null', { n: null }, 121],
    ['is omitted', {}, 121],
    ['is not an integer, which fails later', { n: '7' }, 601],
    ['is too large, which fails later', { n: 1e9 }, 601],
    ['has the name of an inherited property', { __proto__: { n: 1 } }, 121],
  ])('uses a variable as `first` when it %s', (_, variables, points) => {
    expect(requested('query ($n: Int) { ledgers(first: $n) { nodes { note } } }', { variables })).toBe(points);
  });

  test('uses the default of a variable', () => {
    const query = 'query ($n: Int = 50) { ledgers(first: $n) { nodes { note } } }';
    expect(requested(query)).toBe(301);
    expect(requested(query, { variables: { n: 10 } })).toBe(61);
    expect(requested(query, { variables: { n: null } })).toBe(121);
  });

  test.each([
    ['@skip(if: true)', 2],
    ['@skip(if: false)', 601],
    ['@include(if: true)', 601],
    ['@include(if: false)', 2],
    ['@skip(if: false) @include(if: false)', 2],
  ])('respects %s', (directive, points) => {
    expect(requested(`{ ledgers(first: 100) { nodes ${directive} { note } } }`)).toBe(points);
    expect(
      requested(`{ ledgers(first: 100) { ...F ${directive} } } fragment F on LedgerConnection { nodes { note } }`),
    ).toBe(points);
  });

  test('respects variables in conditions', () => {
    const document = parse(
      'query ($s: Boolean!, $i: Boolean = false) { me @skip(if: $s) { id } few @include(if: $i) { total } }',
    );
    const operation = getOperationAST(document) ?? missing();
    const costs = [{ s: false, i: true }, { s: true, i: true }, { s: false }, { s: true }, { s: 'odd' }, {}].map(
      (variables) => pricing.price(document, operation, variables).requestedQueryCost,
    );
    expect(costs).toEqual([3, 2, 2, 1, 2, 2]);
  });

  test('does not take exponential time for fragments that double', () => {
    const chain = Array.from({ length: 40 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    expect(requested(`{ ...F0 } ${chain.join(' ')} fragment F40 on Query { me { id } }`)).toBe(2);
  });

  test('charges introspection as much as an operation can cost', () => {
    expect(requested('{ me { id } __type(name: "Owner") { name } }')).toBe(1000);
    expect(requested('{ ...F } fragment F on Query { __schema { types { name } } }')).toBe(1000);
  });
});

/** Returns the price, or the error. */
function tryToPrice(query: string, variables: Record<string, unknown> = {}): unknown {
  try {
    return requested(query, { variables });
  } catch (error) {
    return error;
  }
}

describe('rejects an operation of more than 1,000 points', () => {
  test.each([
    [
      'a field of a page',
      '{ a: ledgers(first: 100) { nodes { note } } second: ledgers(first: 100) { edges { node { id n: note } } } me { id } }',
      'The operation costs 1,310 points; at most 1,000 are allowed. The most expensive field is a.nodes.note, with 500 points. Request fewer items or fields.',
    ],
    [
      'a list in a list',
      '{ me { helpers { helpers { id } } } }',
      'The operation costs 2,626 points; at most 1,000 are allowed. The most expensive field is me.helpers.helpers, with 2,500 points. Request fewer items or fields.',
    ],
    [
      'an alias that is too long for the message',
      `{ ${'x'.repeat(50)}: me { helpers { helpers { id } } } }`,
      `The operation costs 2,627 points; at most 1,000 are allowed. The most expensive field is ${'x'.repeat(40)}….helpers.helpers, with 2,500 points. Request fewer items or fields.`,
    ],
  ])('and names %s', (_, query, message) => {
    expect(tryToPrice(query)).toMatchObject({ name: 'OperationTooComplexError', message });
  });

  test('but not one of 1,000 points', () => {
    // 601 + 397 + 1.03
    const full = 'a: ledgers(first: 100) { nodes { note } } b: ledgers(first: 66) { nodes { note } } me { id }';
    expect(tryToPrice(`{ ${full} }`)).toBe(1000);
    expect(tryToPrice(`{ ${full} c: me { id } }`)).toMatchObject({
      message: expect.stringContaining('costs 1,001 points; at most 1,000 are allowed'),
      cost: { requestedQueryCost: 1_001, limit: 1_000 },
    });
  });
});

describe('the actual cost', () => {
  test('counts the bytes of introspection, even if an error has removed them', () => {
    const { priceOf } = price('{ __schema { description } me { id } }');
    expect(priceOf({ __schema: { description: 'x'.repeat(9_000) }, me: { id: '1' } })).toBe(11); // 9.041 + 1.03 + 0.03
    expect(priceOf(null, [{ path: ['me', 'id'] }])).toBe(1000);
  });

  test('counts the items that were returned', () => {
    const { requestedQueryCost, priceOf } = price('{ ledgers { nodes { id note } } }');
    expect(requestedQueryCost).toBe(122); // 1 + 20 × 6.03
    expect(priceOf({ ledgers: { nodes: [] } })).toBe(1);
    const full = { id: '1', note: 'x'.repeat(5_000) };
    expect(priceOf({ ledgers: { nodes: [full] } })).toBe(8); // 1 + 6.03
    expect(priceOf({ ledgers: { nodes: Array.from({ length: 20 }, () => full) } })).toBe(122);
  });

  test('counts the characters of a text instead of its weight, and no weight of a field that is null', () => {
    const { priceOf } = price('{ ledgers(first: 100) { nodes { note } } }');
    const costWith = (note: string | null) =>
      priceOf({ ledgers: { nodes: Array.from({ length: 100 }, () => ({ note })) } });
    expect(costWith(null)).toBe(104); // 1 + 100 × 1.03
    expect(costWith('')).toBe(104);
    expect(costWith('x'.repeat(200))).toBe(124);
    expect(costWith('x'.repeat(9_000))).toBe(601);
  });

  test.each([
    ['of two bytes', 'é', 400],
    ['of three bytes', '漢', 600],
    ['of four bytes', '\u{1F600}', 800],
    ['that JSON escapes', '\u0001', 1200],
    ['that are quoted', '"', 400],
  ])('counts the bytes of characters %s, even beyond the weight', (_, character, bytesOf200) => {
    const { requestedQueryCost, priceOf } = price('{ ledgers(first: 10) { nodes { note } } }');
    expect(requestedQueryCost).toBe(61);
    const costWith = (count: number, nodes = 10) =>
      priceOf({ ledgers: { nodes: Array.from({ length: nodes }, () => ({ note: character.repeat(count) })) } });
    expect(costWith(200)).toBe(Math.ceil(1 + 10 * (1 + 0.03 + bytesOf200 / 1000)));
    const bytesOf5000 = 25 * bytesOf200;
    expect(costWith(5_000)).toBe(Math.ceil(1 + 10 * (1 + 0.03 + bytesOf5000 / 1000)));
    expect(costWith(5_000)).toBeGreaterThan(requestedQueryCost);
    expect(costWith(5_000, 500)).toBe(1000);
  });

  test('counts objects in items, and the field of one that is null', () => {
    const { priceOf } = price('{ ledgers(first: 10) { nodes { owner { motto helpers { id } } } } }');
    const helpers = [{ id: '1' }, { id: '2' }];
    expect(priceOf({ ledgers: { nodes: [{ owner: null }] } })).toBe(3);
    expect(priceOf({ ledgers: { nodes: [{ owner: { motto: 'x', helpers } }] } })).toBe(6); // 1 + 1 + 1.5 + 2 × 1.03
  });

  test('keeps what does not depend on the response', () => {
    const { priceOf } = price(`{ owner(id: 1) { id ${'id '.repeat(100)} } }`);
    expect(priceOf({ owner: null })).toBe(4); // 1 + 3
    expect(priceOf(null)).toBe(3);
    expect(priceOf(undefined)).toBe(3);
  });

  test('is at most the requested cost if characters have one byte', () => {
    const { priceOf, requestedQueryCost } = price('{ few(first: 1) { nodes { id } } }');
    expect(priceOf({ few: { nodes: Array.from({ length: 9 }, () => ({ id: '1' })) } })).toBe(requestedQueryCost);
  });
});

/** Of two ledgers with these fields. */
const costOf = (fields: string): number => requested(`{ few(first: 2) { nodes { ${fields} } } }`);

describe('fields of which at most one has a value', () => {
  test('cost as much as the most expensive one', () => {
    expect(costOf('note')).toBe(1 + 2 * (1 + 5));
    expect(costOf('memo')).toBe(1 + 2 * (1 + 7));
    expect(costOf('note memo')).toBe(Math.ceil(1 + 2 * (1 + 7 + 0.03)));
    // Both of the first field can have a value, and an alias costs 0.03.
    expect(costOf('note again: note memo')).toBe(Math.ceil(1 + 2 * (1 + 10 + 0.03 + 0.03)));
  });

  test('cost what they have in the end', () => {
    const { priceOf } = price('{ few(first: 2) { nodes { note memo } } }');
    const page = (...nodes: object[]) => priceOf({ few: { nodes } });
    const long = 'x'.repeat(7_000);
    expect(page({ note: null, memo: long }, { note: null, memo: long })).toBe(Math.ceil(1 + 2 * (1 + 7 + 0.03)));
    expect(page({ note: long, memo: null }, { note: null, memo: null })).toBe(
      Math.ceil(1 + (1 + 5 + 0.03) + (1 + 0.06)),
    );
  });
});

describe('an error that makes an object null', () => {
  const manyPages =
    '{ a: ledgers(first: 100) { nodes { id } } me { helpers { motto } } z: few(first: 0) { nodes { id } } }';
  test.each([
    // 1.03 + 100 × 1.03, 1 + 50 × 1.5, and 1.03 of the field that has failed
    ['costs what else may have been read', manyPages, null, ['z'], 182],
    ['costs nothing beside the failed field', '{ ledgers(first: 100) { nodes { id } } }', null, ['ledgers'], 1],
    ['costs other objects of a list', '{ me { helpers { id motto } } }', null, ['me', 'helpers', 7, 'motto'], 78], // 1 + 50 × 1.53
    [
      'costs an object of a list',
      '{ owners(ids: ["1", "2"]) { motto } }',
      { owners: [null, { motto: '' }] },
      ['owners', 0, 'motto'],
      3,
    ],
    ['costs a nested page', '{ owner(id: "1") { helpers { id } motto } }', { owner: null }, ['owner', 'motto'], 53], // 1 + 50 × 1.03 + 0.5
    [
      'costs nothing if it is the failed field',
      '{ owner(id: "1") { helpers { id } } me { id } }',
      { owner: null, me: { id: '1' } },
      ['owner'],
      3,
    ],
    ['costs nothing if a leaf is null', '{ me { motto } }', { me: { motto: null } }, ['me', 'motto'], 2],
  ])('%s', (_, query, data, path, points) => {
    const { priceOf, requestedQueryCost } = price(query);
    expect(priceOf(data, [{ path }])).toBe(points);
    // graphql reports one error for each place, and other executions can report more.
    expect(priceOf(data, [{ path }, { path }, { path: undefined }])).toBe(points);
    expect(points).toBeLessThanOrEqual(requestedQueryCost);
  });

  test('costs the characters of its path beyond 100, which a long alias repeats in each error', () => {
    const alias = 'a'.repeat(2_000);
    const { priceOf, requestedQueryCost } = price(`{ ${alias}: owners(ids: ["1", "2"]) { motto } }`);
    const data = { [alias]: [null, null] };
    const errors = [0, 1].map((index) => ({ path: [alias, index, 'motto'] }));
    expect(priceOf(data, []) + 4).toBe(priceOf(data, errors)); // 2 × 1.905
    expect(priceOf(data, errors)).toBeGreaterThan(requestedQueryCost);
  });

  test('depends on variables', () => {
    const query = 'query ($first: Int) { a: ledgers(first: $first) { nodes { id } } b: owner(id: "1") { id } }';
    const lost = (first: number): number => price(query, { variables: { first } }).priceOf(null, [{ path: ['b'] }]);
    expect(lost(10)).toBe(13); // 1.03 + 10 × 1.03 + 1.03
    expect(lost(100)).toBe(106);
    expect(lost(-1000)).toBe(3);
  });
});
