import { afterAll, beforeAll, expect, test } from 'vitest';
import { key, type SampleServer, startSampleServer } from './sample-server.ts';

let server: SampleServer;
beforeAll(async () => {
  server = await startSampleServer();
});
afterAll(() => server.close());

async function post(body: string): Promise<{ status: number; code: string | undefined; bytes: number }> {
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
  return { status: response.status, code: /"code":"([A-Z_]+)"/.exec(text)?.[1], bytes: text.length };
}

const nested = (open: string, middle: string, close: string, depth: number) =>
  open.repeat(depth) + middle + close.repeat(depth);
const chain = (count: number) =>
  Array.from({ length: count }, (_, i) => `fragment F${i} on Query{...F${i + 1}}`).join('') +
  `fragment F${count} on Query{hello}`;

// As large as a body may be: what parses, validates and runs by recursion meets the end of the stack.
test.each([
  ['selections in selections', nested('{a', '', '}', 30_000), 'OPERATION_TOO_COMPLEX'],
  ['lists in lists', `{hello(name:${nested('[', '', ']', 40_000)})}`, 'OPERATION_TOO_COMPLEX'],
  ['objects in objects', `{hello(name:${nested('{a:', '1', '}', 20_000)})}`, 'OPERATION_TOO_COMPLEX'],
  ['types in types', `query($a:${nested('[', 'Int', ']', 40_000)}){hello}`, 'OPERATION_TOO_COMPLEX'],
  ['fragments in fragments', `{...F0}${chain(2800)}`, 'OPERATION_TOO_COMPLEX'],
  [
    'introspection of introspection',
    `{__schema{types{fields{type{fields{type{fields{name}}}}}}}}`,
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['one field very often', `{${'a:hello '.repeat(12_000)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'many fields that contradict',
    `{${Array.from({ length: 4000 }, (_, i) => `a:hello(name:"${i}")`).join(' ')}}`,
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['many fields that nobody knows', `{${'x '.repeat(49_000)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['a directive very often', `{hello ${'@skip(if:false)'.repeat(6000)}}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['nothing but braces', '{'.repeat(90_000), 'GRAPHQL_PARSE_FAILED'],
])('%s are refused, not too late and not at length', async (_, query, code) => {
  const startedMs = performance.now();
  const answer = await post(JSON.stringify({ query }));
  expect(answer.code).toBe(code);
  expect(answer.status).toBeLessThan(500);
  expect(answer.bytes).toBeLessThan(50_000);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
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
