import { sdl } from '@deedwire/partner-schema';
import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { beforeEach, expect, test } from 'vitest';
import { requestLimits } from '../graphql-handler.ts';
import { createDocuments, type Documents } from './documents.ts';
import { type DocumentPipeline, validateDocument } from './read-document.ts';

const schema = buildSchema(sdl('2026-11-01'));
let documents: Documents;
let parsed: string[];
const pipeline: DocumentPipeline = {
  parse: (source, options) => {
    parsed.push(typeof source === 'string' ? source : source.body);
    return parse(source, options);
  },
  validate: validateDocument,
};

beforeEach(() => {
  documents = createDocuments(schema, requestLimits);
  parsed = [];
});

function read(query: string): unknown {
  const reading = documents.read(query, () => pipeline);
  return reading.isValid ? reading.document : reading.error;
}

test('parses a valid document once', () => {
  const query = '{partner{id name}}';
  expect(read(query)).toBe(read(query));
  expect(parsed).toEqual([query]);
});

test.each([
  ['a syntax error', '{partner{id}', 'GRAPHQL_PARSE_FAILED', 1],
  ['unknown fields', '{partner{nope nothing}}', 'GRAPHQL_VALIDATION_FAILED', 2],
  ['fields that cannot be merged', '{partner{x:id x:name}}', 'GRAPHQL_VALIDATION_FAILED', 1],
  ['too many tokens', '{partner{id}}'.repeat(400), 'OPERATION_TOO_COMPLEX', 0],
])('remembers the errors of a document with %s', (_, query, code, errors) => {
  const first = read(query);
  expect(first).toMatchObject({ code, found: { length: errors } });
  const second = read(query);
  expect(second).not.toBe(first);
  expect(second).toEqual(first);
  expect(parsed).toEqual([query]);
});

test('says which documents were parsed, and finds the valid ones', () => {
  const valid = '{partner{id}}';
  const invalid = '{partner{nope}}';
  expect(documents.find(valid)).toBeUndefined();
  const isNew = [valid, invalid, valid, invalid].map((query) => documents.read(query, () => pipeline).isNew);
  expect(isNew).toEqual([true, true, false, false]);
  expect(documents.find(valid)).toBe(read(valid));
  expect(documents.find(invalid)).toBeUndefined();
});

test('does not take one rejected document for another', () => {
  expect(read('{partner{a}}')).toMatchObject({ found: [{ message: 'Cannot query field "a" on type "Partner".' }] });
  expect(read('{partner{b}}')).toMatchObject({ found: [{ message: 'Cannot query field "b" on type "Partner".' }] });
});

test('keeps documents in use while a client sends others that are valid, invalid and large', () => {
  const inUse = ['{partner{id}}', '{referrals{nodes{id}}}', getIntrospectionQuery(), '{partner{nope}}'];
  const results = inUse.map(read);
  for (const query of inUse) read(query);
  for (let index = 0; index < 1000; index += 1) {
    const size = index % 10 === 0 ? 300 : 3;
    read(`query Q${index}{${'partner{id} '.repeat(size)}}`);
    read(`query Q${index}{${'partner{nope} '.repeat(size)}}`);
  }
  parsed = [];
  for (const [index, query] of inUse.entries()) expect(read(query)).toEqual(results[index]);
  expect(parsed).toEqual([]);
});

test('limits the memory of valid and of rejected documents', () => {
  for (let index = 0; index < 60; index += 1) {
    read(`query Q${index}{${'partner{id} '.repeat(450)}}`);
    read(`query Q${index}{partner{id}${'#\n'.repeat(30_000)}}`);
    read(`query Q${index}{partner{${'nope '.repeat(index)}}}`);
    read(`query Q${index}{partner{id}}${' '.repeat(index * 1000)}!`);
  }
  expect(documents.bytes).toBeGreaterThan(1_000_000);
  expect(documents.bytes).toBeLessThanOrEqual(17_000_000);
});
