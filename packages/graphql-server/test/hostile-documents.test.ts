import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { jsonHeaders, startSampleServer } from './sample-server.ts';

const server = await forFile(startSampleServer());

interface Received {
  status: number;
  code: string | undefined;
  message: string | undefined;
  bytes: number;
}

async function post(body: string): Promise<Received> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: jsonHeaders,
    body,
  });
  const text = await response.text();
  const [error] = JSON.parse(text).errors ?? [];
  return { status: response.status, code: error?.extensions.code, message: error?.message, bytes: text.length };
}

const nested = (open: string, middle: string, close: string, depth: number) =>
  open.repeat(depth) + middle + close.repeat(depth);
const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');
/** A chain of fragments, each of which spreads the next one `spreads` times. */
const doubling = (count: number, spreads: number) =>
  `{...F0} ${repeat(count, (i) => `fragment F${i} on Query{${`...F${i + 1} `.repeat(spreads)}}`)} fragment F${count} on Query{a:hello}`;

test('reads the whole of the largest bodies, before and after the key is cached', async () => {
  const body = JSON.stringify({ query: '{ hello }' }).padEnd(100_000);
  expect(await post(body)).toMatchObject({ status: 200, code: undefined });
  expect(await post(body)).toMatchObject({ status: 200, code: undefined });
});

// These documents are as large as a body may be. Recursive parsing or validation of them would overflow the stack, and the
// pairwise comparison of fields would block the process.
test.each([
  ['selections in selections', nested('{a', '', '}', 30_000), '90,000'],
  ['lists in lists', `{hello(name:${nested('[', '', ']', 40_000)})}`, '80,007'],
  ['many conflicting fields', `{${repeat(4000, (i) => `a:hello(name:"${i}")`)}}`, '32,002'],
  ['opening braces, then an invalid token', `${'{'.repeat(3000)}"`, '3,000'],
])('rejects too many tokens before any further processing: %s', async (_, query, tokens) => {
  const response = await post(JSON.stringify({ query }));
  expect(response).toMatchObject({ status: 200, code: 'OPERATION_TOO_COMPLEX' });
  expect(response.message).toBe(`The document has ${tokens} tokens; at most 2,000 are allowed.`);
});

test.each([
  ['conflicting fields', `{${repeat(333, (i) => `hello(name:"${i}")`)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['unknown fields', `{${'x '.repeat(1998)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['selections in selections', nested('{a', '', '}', 660), 'OPERATION_TOO_COMPLEX'],
  ['lists in lists', `{hello(name:${nested('[', '', ']', 995)})}`, 'GRAPHQL_VALIDATION_FAILED'],
  // With a fuller stack, the recursive parser overflows it: OPERATION_TOO_COMPLEX.
  [
    'lists without an end',
    `{hello(name:${'['.repeat(1990)}`,
    expect.stringMatching(/^(GRAPHQL_PARSE_FAILED|OPERATION_TOO_COMPLEX)$/),
  ],
  ['fragments that double', doubling(180, 2), 'OPERATION_TOO_COMPLEX'],
  [
    'fragments in a cycle',
    '{...A} fragment A on Query{a:hello ...B} fragment B on Query{...A}',
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['an unknown fragment', '{...A}', 'GRAPHQL_VALIDATION_FAILED'],
  [
    'introspection of introspection',
    '{__schema{types{fields{type{fields{type{fields{name}}}}}}}}',
    'GRAPHQL_VALIDATION_FAILED',
  ],
])('rejects within the token limit, with a short response: %s', async (_, query, code) => {
  const response = await post(JSON.stringify({ query }));
  expect(response.code).toEqual(code);
  expect(response.status).toBeLessThan(500);
  expect(response.bytes).toBeLessThan(50_000);
});

test('rejects a variable of many values, in lists or in objects', async () => {
  const query = 'mutation ($i: FirstInput!) { first(input: $i) }';
  for (const value of [nested('[', '', ']', 40_000), nested('{"name":', '1', '}', 11_000)]) {
    const response = await post(`{"query":${JSON.stringify(query)},"variables":{"i":${value}}}`);
    expect(response).toMatchObject({ status: 200, code: 'BAD_USER_INPUT' });
    expect(response.message).toBe(
      'The variables contain more than 2,000 values, counting the items of lists and the members of objects. Send fewer.',
    );
  }
});

test('rejects extensions of many values: a request that waits for its refusal keeps them', async () => {
  const response = await post(`{"query":"{ hello }","extensions":{"list":[${'{},'.repeat(2_000)}{}]}}`);
  expect(response).toMatchObject({ status: 200, code: 'BAD_USER_INPUT' });
  expect(response.message).toMatch(/^The extensions contain more than 2,000 values/);
});

test('reports at most 10 errors in a variable of 2,000 values', async () => {
  const query = 'mutation ($i: FirstInput!) { first(input: $i) }';
  const members = Array.from({ length: 1999 }, (_, i) => `"k${i}":1`).join(',');
  const response = await post(`{"query":${JSON.stringify(query)},"variables":{"i":{${members}}}}`);
  expect(response).toMatchObject({ status: 200, code: 'BAD_USER_INPUT' });
  expect(response.message).toMatch(/^Variable "\$i" has invalid value/);
  expect(response.bytes).toBeLessThan(10_000);
});

test('still serves requests afterwards', async () => {
  expect(await post('{"query":"{ hello }"}')).toMatchObject({ status: 200, code: undefined });
});
