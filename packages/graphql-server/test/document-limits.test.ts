import { forFile } from '@deedwire/testing/for-file';
import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { jsonHeaders, startSampleServer } from './sample-server.ts';

const server = await forFile(startSampleServer());

function send(accept: string, query: string, operationName?: string): Promise<Response> {
  return fetch(server.url, {
    method: 'POST',
    headers: { Accept: accept, ...jsonHeaders },
    body: JSON.stringify({ query, operationName }),
  });
}

async function bodyOf(query: string): Promise<{ message: string; extensions: Record<string, unknown> }[]> {
  const response = await send('application/json', query);
  return JSON.parse(await response.text()).errors;
}

/**
 * Returns `200`, or for example `400 OPERATION_TOO_COMPLEX …`. Expects the same result for both media types, and the status 200
 * for `application/json`.
 */
async function run(query: string, operationName?: string): Promise<string> {
  const [newer, older] = await Promise.all(
    ['application/graphql-response+json', 'application/json'].map(async (accept) => {
      const response = await send(accept, query, operationName);
      const { errors: [error] = [] } = JSON.parse(await response.text());
      return error ? `${response.status} ${error.extensions.code} ${error.message}` : String(response.status);
    }),
  );
  expect(older).toBe(newer?.replace('400', '200'));
  return newer ?? '';
}

const deep = (levels: number, innermost = '{hello}') =>
  '{again'.repeat(levels - 1) + innermost + '}'.repeat(levels - 1);
const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${i}:hello `).join('');
const skip = '@skip(if:false) ';
const directives = (count: number) => `hello${skip}`.repeat(count);

const tooManyTokens = '400 OPERATION_TOO_COMPLEX The document has 2,001 tokens; at most 2,000 are allowed.';
const tooDeep = '400 OPERATION_TOO_COMPLEX The operation has 11 levels of fields; at most 10 are allowed.';
const tooManyAliases = '400 OPERATION_TOO_COMPLEX The operation has 31 aliases; at most 30 are allowed.';
const schemaAliases =
  '400 OPERATION_TOO_COMPLEX The field __schema, and fields below __schema and __type, can have no aliases.';
const types = (count: number) =>
  `{${Array.from({ length: count }, (_, i) => `a${i}:__type(name:"Int"){name}`).join(' ')}}`;
const tooManyDirectives = '400 OPERATION_TOO_COMPLEX The operation has 21 directives; at most 20 are allowed.';

test.each([
  ['tokens', Array.from({ length: 400 }, (_, i) => `query Q${i}{,hello #${'x'.repeat(50)}\n}`).join('')],
  ['levels', deep(10)],
  ['levels with inline fragments between', deep(10, `{...{...{hello}}}`)],
  ['levels, the last of them in a fragment', `${deep(9, '{...F}')} fragment F on Query{again{hello}}`],
  ['aliases', `{${aliases(30)}}`],
  ['aliases in each of two operations', `query A{${aliases(30)}} query B{${aliases(30)}}`],
  ['directives', `{${directives(20)}}`],
  ['fields __type', types(5)],
  [
    'a full introspection query',
    getIntrospectionQuery({ directiveIsRepeatable: true, specifiedByUrl: true, oneOf: true, schemaDescription: true }),
  ],
])('accepts the maximum: %s', async (_, query) => {
  expect(await run(query, /^query (\w+)/.exec(query)?.[1])).toBe('200');
});

test.each([
  ['one token', `{${'x '.repeat(1999)}}`, tooManyTokens],
  ['one token, with a syntax error before it', `{${'x '.repeat(1998)}! !`, tooManyTokens],
  ['one level', deep(11), tooDeep],
  ['one level of unknown fields', '{a'.repeat(11) + '}'.repeat(11), tooDeep],
  ['one level, in a fragment', `${deep(9, '{...F}')} fragment F on Query{again{again{hello}}}`, tooDeep],
  ['one level, next to introspection', `{__schema{types{name}} ${deep(11).slice(1)}`, tooDeep],
  ['one level, in an operation that is not run', `query A{hello} query B${deep(11)}`, tooDeep],
  ['one alias', `{${aliases(31)}}`, tooManyAliases],
  ['one alias in a mutation', `mutation{second ${aliases(31)}}`, tooManyAliases],
  [
    'one alias, in a fragment with several spreads',
    `{...F again{...F ...on Query{...F}} a:hello} fragment F on Query{${aliases(10)}}`,
    tooManyAliases,
  ],
  [
    '5 fields __type',
    types(6),
    '400 OPERATION_TOO_COMPLEX The operation has 6 fields __schema and __type; at most 5 are allowed.',
  ],
  ['of __schema no alias', '{a:__schema{__typename}}', schemaAliases],
  ['below __schema no alias', '{__schema{types{...F}} hello} fragment F on __Type{a:name}', schemaAliases],
  ['one directive', `{${directives(21)}}`, tooManyDirectives],
  [
    'one directive, over all locations',
    `query Q($a:Int! ${skip})${skip}{ ...on Query${skip}{hello(times:$a)${skip}} ...F${skip} ...F${skip}} fragment F on Query${skip}{${directives(7)}}`,
    tooManyDirectives.replace('21', '22'),
  ],
])('rejects more than the maximum: %s', async (_, query, expected) => {
  expect(await run(query, /^query (\w+)/.exec(query)?.[1])).toBe(expected);
});

test('counts nested fragments without expanding them', async () => {
  const fragments = Array.from({ length: 40 }, (_, i) => `fragment F${i} on Query{...F${i + 1} ...F${i + 1}}`);
  expect(await run(`{...F0} ${fragments.join(' ')} fragment F40 on Query{a:hello}`)).toBe(
    '400 OPERATION_TOO_COMPLEX The operation has 1,099,511,627,776 aliases; at most 30 are allowed.',
  );
});

test('gives the same result for a document that is sent again', async () => {
  expect([await run(`{${aliases(31)}}`), await run(`{${aliases(31)}}`)]).toEqual([tooManyAliases, tooManyAliases]);
  expect([await run(`{${aliases(30)}}`), await run(`{${aliases(30)}}`)]).toEqual(['200', '200']);
  const [first, second] = [await bodyOf('{hello\n  nope}'), await bodyOf('{hello\n  nope}')];
  expect(first).toEqual([
    {
      message: 'Cannot query field "nope" on type "Query".',
      locations: [{ line: 2, column: 3 }],
      extensions: {
        code: 'GRAPHQL_VALIDATION_FAILED',
        requestId: expect.any(String),
        documentationUrl: 'https://docs.example/errors.md#graphql_validation_failed',
      },
    },
  ]);
  expect(second[0]?.extensions.requestId).not.toBe(first[0]?.extensions.requestId);
  expect({ ...second[0], extensions: {} }).toEqual({ ...first[0], extensions: {} });
});
