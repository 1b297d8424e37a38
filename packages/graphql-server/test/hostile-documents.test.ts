import { afterAll, beforeAll, expect, test } from 'vitest';
import { key, type SampleServer, startSampleServer } from './sample-server.ts';

let server: SampleServer;
beforeAll(async () => {
  server = await startSampleServer();
});
afterAll(() => server.close());

interface Answered {
  status: number;
  code: string | undefined;
  message: string | undefined;
  bytes: number;
}

async function post(body: string): Promise<Answered> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Client-Id': 'client-1',
      'X-Service-API-Key': key.apiKey,
      'X-Service-Organization-Id': 'org-1',
    },
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
/** Fragments, each of which spreads the next one so many times. */
const doubling = (count: number, spreads: number) =>
  `{...F0} ${repeat(count, (i) => `fragment F${i} on Query{${`...F${i + 1} `.repeat(spreads)}}`)} fragment F${count} on Query{a:hello}`;

// As large as a body may be. What parses and validates by recursion would meet the end of the stack, and what compares
// fields in pairs would keep everybody waiting.
test.each([
  ['selections in selections', nested('{a', '', '}', 30_000), '90,000'],
  ['lists in lists', `{hello(name:${nested('[', '', ']', 40_000)})}`, '80,007'],
  ['types in types', `query($a:${nested('[', 'Int', ']', 40_000)}){hello}`, '80,010'],
  ['one field very often', `{${'a:hello '.repeat(12_000)}}`, '36,002'],
  ['many fields that contradict', `{${repeat(4000, (i) => `a:hello(name:"${i}")`)}}`, '32,002'],
  ['many fields that nobody knows', `{${'x '.repeat(49_000)}}`, '49,002'],
  ['nothing but braces', '{'.repeat(90_000), '90,000'],
  ['braces, then what is no token', `${'{'.repeat(3000)}"`, '3,000'],
])('%s are refused for their number, before anything is done with them', async (_, query, tokens) => {
  const answer = await post(JSON.stringify({ query }));
  expect(answer).toMatchObject({ status: 400, code: 'OPERATION_TOO_COMPLEX' });
  expect(answer.message).toBe(`The document has ${tokens} tokens; at most 2,000 are allowed.`);
});

test.each([
  ['fields that contradict', `{${repeat(333, (i) => `hello(name:"${i}")`)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['fields that nobody knows', `{${'x '.repeat(1998)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['selections in selections', nested('{a', '', '}', 660), 'OPERATION_TOO_COMPLEX'],
  ['lists in lists', `{hello(name:${nested('[', '', ']', 995)})}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['lists without an end', `{hello(name:${'['.repeat(1990)}`, 'OPERATION_TOO_COMPLEX'],
  ['fragments that double', doubling(180, 2), 'OPERATION_TOO_COMPLEX'],
  [
    'fragments that go round',
    '{...A} fragment A on Query{a:hello ...B} fragment B on Query{...A}',
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['a fragment that is not there', '{...A}', 'GRAPHQL_VALIDATION_FAILED'],
  [
    'introspection of introspection',
    '{__schema{types{fields{type{fields{type{fields{name}}}}}}}}',
    'GRAPHQL_VALIDATION_FAILED',
  ],
])('%s, within the tokens, are refused shortly', async (_, query, code) => {
  const answer = await post(JSON.stringify({ query }));
  expect(answer.code).toBe(code);
  expect(answer.status).toBeLessThan(500);
  expect(answer.bytes).toBeLessThan(50_000);
});

test.each([
  ['lists in lists', nested('[', '', ']', 40_000)],
  ['objects in objects', nested('{"name":', '1', '}', 11_000)],
  ['many members', `{${Array.from({ length: 7000 }, (_, i) => `"k${i}":1`).join(',')}}`],
])('a variable of %s is refused', async (_, value) => {
  const query = 'mutation ($i: FirstInput!) { first(input: $i) }';
  const answer = await post(`{"query":${JSON.stringify(query)},"variables":{"i":${value}}}`);
  expect(answer).toMatchObject({ status: 200, code: 'BAD_USER_INPUT' });
  expect(answer.bytes).toBeLessThan(50_000);
});

test('afterwards the service serves', async () => {
  expect(await post('{"query":"{ hello }"}')).toMatchObject({ status: 200, code: undefined });
});
