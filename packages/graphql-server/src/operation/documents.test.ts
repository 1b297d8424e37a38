import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { beforeEach, expect, test } from 'vitest';
import { customerSdl } from '../../test/support/customer-sdl.ts';
import { readDocument } from '../../test/support/read-document.ts';
import { requestLimits } from '../request-limits.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createDocumentSteps, RejectedDocumentError } from './read-document.ts';

const schema = buildSchema(customerSdl);
let documents: Documents;
let parsed: string[];
let counted: boolean[];

beforeEach(() => {
  [parsed, counted] = [[], []];
  const steps = createDocumentSteps(schema, requestLimits);
  documents = createDocuments(schema, requestLimits, (isValid) => counted.push(isValid), {
    ...steps,
    parse(query) {
      parsed.push(query);
      return steps.parse(query);
    },
  });
});

/** Returns the document, or its error. */
function read(query: string): unknown {
  try {
    return readDocument(query, documents);
  } catch (error) {
    return error;
  }
}

function withoutAge(result: unknown): unknown {
  return result instanceof RejectedDocumentError ? { ...result, message: result.message, isNew: null } : result;
}

test('parses a valid document once', () => {
  const query = '{customer{id name}}';
  expect(read(query)).toBe(read(query));
  expect(parsed).toEqual([query]);
  expect(counted).toEqual([true]);
});

test.each([
  ['a syntax error', '{customer{id}', 'GRAPHQL_PARSE_FAILED', 1],
  ['unknown fields', '{customer{nope nothing}}', 'GRAPHQL_VALIDATION_FAILED', 2],
  ['fields that cannot be merged', '{customer{x:id x:name}}', 'GRAPHQL_VALIDATION_FAILED', 1],
  ['too many tokens', '{customer{id}}'.repeat(400), 'OPERATION_TOO_COMPLEX', 0],
])('remembers the errors of a document with %s', (_, query, code, errors) => {
  const first = read(query);
  expect(first).toMatchObject({ code, found: { length: errors }, isNew: true });
  const second = read(query);
  expect(second).not.toBe(first);
  expect(second).toMatchObject({ isNew: false });
  expect(withoutAge(second)).toEqual(withoutAge(first));
  expect(parsed).toEqual([query]);
  expect(counted).toEqual([false]);
});

test('finds the valid documents', () => {
  const [valid, invalid] = ['{customer{id}}', '{customer{nope}}'];
  expect(documents.find(valid)).toBeUndefined();
  read(invalid);
  const document = read(valid);
  expect(documents.find(valid)).toBe(document);
  expect(documents.find(invalid)).toBeUndefined();
});

test('an invalid document of a plugin is not taken for what the text contains', () => {
  const stored = parse('{customer{nope}}');
  expect(documents.validate(stored)).toHaveLength(1);
  expect(counted).toEqual([]);
  expect(read('{customer{id}}')).toMatchObject({ kind: 'Document' });
});

test('does not take one rejected document for another', () => {
  expect(read('{customer{a}}')).toMatchObject({ found: [{ message: 'Cannot query field "a" on type "Customer".' }] });
  expect(read('{customer{b}}')).toMatchObject({ found: [{ message: 'Cannot query field "b" on type "Customer".' }] });
});

test('keeps documents in use while a client sends others that are valid, invalid and large', () => {
  const inUse = ['{customer{id}}', '{webhookSubscriptions{nodes{id}}}', getIntrospectionQuery(), '{customer{nope}}'];
  const results = inUse.map(read);
  for (const query of inUse) read(query);
  const others = Array.from({ length: 250 }, (_, index) => {
    const size = index % 10 === 0 ? 300 : 3;
    return ['customer{id} ', 'customer{nope} '].map((field) => `query Q${index}{${field.repeat(size)}}`);
  }).flat();
  for (const query of others) read(query);
  parsed = [];
  for (const [index, query] of inUse.entries()) expect(withoutAge(read(query))).toEqual(withoutAge(results[index]));
  expect(parsed).toEqual([]);
  // The first of the others have made room.
  const first = others.slice(0, 2);
  for (const query of first) read(query);
  expect(parsed).toEqual(first);
});

test('limits the memory of valid and of rejected documents', () => {
  for (let index = 0; index < 60; index += 1) {
    read(`query Q${index}{${'customer{id} '.repeat(450)}}`);
    read(`query Q${index}{customer{id}${'#\n'.repeat(30_000)}}`);
    read(`query Q${index}{customer{${'nope '.repeat(index)}}}`);
    read(`query Q${index}{customer{id}}${' '.repeat(index * 1000)}!`);
  }
  expect(documents.bytes).toBeGreaterThan(1_000_000);
  expect(documents.bytes).toBeLessThanOrEqual(17_000_000);
});
