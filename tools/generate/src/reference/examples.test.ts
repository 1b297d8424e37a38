import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { buildSchema } from 'graphql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { workspaceRoot } from '../workspace-files.ts';
import { type ExampleVersion, readExamples, requireUsed } from './examples.ts';

const none = { common: [], fillSlotsOf: (_: string, text: string): string => text };
const older = { ...none, schema: buildSchema('type Query { a(first: Int): Int  b: Int }') };
const newer = { ...none, schema: buildSchema('type Query { a(first: Int!): Int  b: Int }') };
const both = new Map([
  ['2026-11-01', older],
  ['2027-02-01', newer],
]);
let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reference-examples-'));
  folder = relative(workspaceRoot, root);
  write('2026-11-01/a.graphql', 'query A($first: Int) { a(first: $first) }');
  write('2026-11-01/b.graphql', '{ b }');
});

afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test('an example applies to later versions until one of them has its own', () => {
  write('2027-02-01/a.graphql', 'query A($first: Int!) { a(first: $first) }');
  write('2027-02-01/a.variables.json', '{ "first": 1 }');
  write('2027-02-01/a.response.json', '{ "data": { "a": 2 } }');
  const examples = readExamples(folder, both);
  expect(examples.get('2026-11-01')).toMatchObject([
    { kind: 'query', operation: 'a', exchanges: [{ result: 'success', variables: {}, response: null }] },
    { operation: 'b', document: '{ b }' },
  ]);
  expect(examples.get('2027-02-01')).toMatchObject([
    { operation: 'a', exchanges: [{ result: 'success', variables: { first: 1 }, response: { data: { a: 2 } } }] },
    { operation: 'b', document: '{ b }' },
  ]);
});

test('the events of an example are those beside its response', () => {
  write('2026-11-01/a.response.json', '{ "data": { "a": 2 } }');
  write('2026-11-01/a.events.json', '["order.paid"]');
  const examples = readExamples(folder, new Map([['2026-11-01', older]]));
  expect(examples.get('2026-11-01')).toMatchObject([{ events: ['order.paid'] }, { events: [] }]);
});

test('a later version can use the example of a retired version', () => {
  const later = new Map([['2027-02-01', older]]);
  expect(readExamples(folder, later).get('2027-02-01')).toMatchObject([
    { path: `${folder}/2026-11-01/a` },
    { path: `${folder}/2026-11-01/b` },
  ]);
  write('2027-02-01/b.graphql', '{ b }');
  expect(() => readExamples(folder, later)).toThrow('2026-11-01/b.graphql: no version uses this file');
});

describe('of every interface', () => {
  let common: ExampleVersion;

  beforeEach(() => {
    rmSync(join(root, '2026-11-01'), { recursive: true });
    write('own/2026-11-01/b.graphql', '{ b }');
    write('common/2026-11-01/a.graphql', 'query A($first: Int) { a(first: $first) }');
    write('common/2026-11-01/a.variables.json', '{ "first": {slot} }');
    common = {
      ...older,
      common: [`${folder}/common/2026-11-01`],
      fillSlotsOf: (_, text) => text.replace('{slot}', '3'),
    };
  });

  const read = (date: string, later = common) =>
    readExamples(
      `${folder}/own`,
      new Map([
        ['2026-11-01', common],
        ['2027-02-01', later],
      ]),
    ).get(date);

  test('an example has the values of the interface, and its response is recorded at the oldest version that uses it', () => {
    for (const date of ['2026-11-01', '2027-02-01']) {
      const [example] = read(date) ?? [];
      expect(example).toMatchObject({
        path: `${folder}/common/2026-11-01/a`,
        exchanges: [
          { variables: { first: 3 }, responsePath: `${folder}/own/2026-11-01/a.response.json`, response: null },
        ],
      });
    }
  });

  test('a version can have another response to it', () => {
    write('own/2027-02-01/a.response.json', '{ "data": { "a": 2 } }');
    expect(read('2026-11-01')?.[0]?.exchanges).toMatchObject([{ response: null }]);
    expect(read('2027-02-01')?.[0]?.exchanges).toMatchObject([{ response: { data: { a: 2 } } }]);
  });

  test('a later edition, and a version of an interface, can have their own', () => {
    write('common/2027-02-01/a.graphql', 'query Later { a }');
    const later = { ...common, common: [`${folder}/common/2027-02-01`, ...common.common] };
    expect(read('2027-02-01', later)?.[0]).toMatchObject({
      document: 'query Later { a }',
      exchanges: [{ responsePath: `${folder}/own/2027-02-01/a.response.json` }],
    });
    write('own/2027-02-01/a.graphql', 'query Own { a }');
    expect(read('2027-02-01', later)?.[0]).toMatchObject({ document: 'query Own { a }' });
  });

  test('a file that no interface uses is refused', () => {
    expect(() => requireUsed(`${folder}/common`, read('2026-11-01') ?? [])).not.toThrow();
    write('common/2026-11-01/c.graphql', '{ c }');
    expect(() => requireUsed(`${folder}/common`, read('2026-11-01') ?? [])).toThrow(
      '2026-11-01/c.graphql: no version uses this file',
    );
  });
});

test('an example can also show user errors', () => {
  write('2026-11-01/a.refused.variables.json', '{ "first": -1 }');
  const [example] = readExamples(folder, new Map([['2026-11-01', older]])).get('2026-11-01') ?? [];
  expect(example?.exchanges).toMatchObject([
    { result: 'success', variables: {} },
    { result: 'user-errors', variables: { first: -1 }, responsePath: `${folder}/2026-11-01/a.refused.response.json` },
  ]);
});

describe('rejects', () => {
  const only = new Map([['2026-11-01', older]]);

  test('an older example that is not valid for the newer schema', () => {
    expect(() => readExamples(folder, both)).toThrow(/a\.graphql at 2027-02-01: .*needs its own example/);
  });

  test('an operation without an example', () => {
    rmSync(join(root, '2026-11-01/b.graphql'));
    expect(() => readExamples(folder, only)).toThrow('2026-11-01/b.graphql: missing example');
  });

  test.each([
    ['a document that is not valid for the schema', '{ b { c } }', /must not have a selection/],
    ['another operation', '{ a }', /one query that selects only b/],
    ['a second field', '{ b a }', /one query that selects only b/],
    ['a second operation', 'query One { b } query Two { b }', /one query that selects only b/],
  ])('%s', (_, document, message) => {
    write('2026-11-01/b.graphql', document);
    expect(() => readExamples(folder, only)).toThrow(message);
  });

  test('variables of the wrong type', () => {
    write('2026-11-01/a.variables.json', '{ "first": "one" }');
    expect(() => readExamples(folder, only)).toThrow(/\$first/);
  });

  test.each(['2026-11-01/c.graphql', '2026-11-01/c.response.json', '2027-02-01/b.graphql', '2026-11-01/b.txt'])(
    'the unused file %s',
    (path) => {
      write(path, '{}');
      expect(() => readExamples(folder, only)).toThrow('no version uses this file');
    },
  );
});
