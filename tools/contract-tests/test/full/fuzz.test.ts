import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { errorTable } from '@deedwire/graphql-server';
import { credentialHeaders, writeRandomDocument } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { mutate, randomJson } from '../support/fuzz-values.ts';
import { contracts } from '../support/interface-contracts.ts';
import { createRandom, type Random } from '../support/random.ts';

// One customer API as a process. Whatever it receives, it responds with 200 or 4xx and one of the documented errors. It does not
// end, and its memory does not grow without limit.
//
// A response should take less than a second. No test fails on a time alone, because the machine can be busy: the bound only guards
// against hanging, and the last test prints the slowest response.
const seed = 20_261_120;
/** `CALLS=2000` is a longer run. */
const rounds = Number(process.env['CALLS'] ?? 150);
const concurrency = 16;
const hangingMs = 60_000;
const memoryGrowthBytes = 250_000_000;

let slowest = { ms: 0, input: '' };
const t = await forFile(startTestSystem({ apps: ['customer-api'], env: { TRUSTED_PROXIES: '127.0.0.1' } }));
const url = new URL(t.urls.customer);
const headers = { 'Content-Type': 'application/json', ...credentialHeaders(t.accounts.customer.credential) };
await fuzz(createRandom(1), () => post('{"query":"{ customer { name } }"}'));
const memoryBefore = await residentBytes();

/** What is wrong with the response to an input. Null if nothing is. */
type Problem = string | null;

/** Runs `round` many times, several at the same time. Returns the first problems. */
async function fuzz(random: Random, round: (random: Random) => Promise<Problem>): Promise<string[]> {
  const problems: string[] = [];
  let left = rounds;
  const run = async (): Promise<void> => {
    while (left > 0 && problems.length < 5) {
      left -= 1;
      const problem = await round(random);
      if (problem !== null) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, run));
  return problems;
}

/** Remembers the slowest response. */
function recordDuration(startedAtMs: number, input: string): void {
  const ms = Math.round(performance.now() - startedAtMs);
  if (ms > slowest.ms) slowest = { ms, input: JSON.stringify(input.slice(0, 80)) };
}

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${t.system.apps['customer-api'].adminUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\{cell="0"\} (\d+)$/m.exec(text)?.[1]);
}

interface Received {
  status: number;
  requestId: string | null;
  body: string;
}

function findProblem(input: string, { status, requestId, body }: Received): Problem {
  const problem = findProblemOf({ status, requestId, body });
  if (problem === null) return null;
  return `${problem}: ${JSON.stringify(input.slice(0, 2000))} got ${status} ${body.slice(0, 500)}`;
}

function findProblemOf({ status, requestId, body }: Received): Problem {
  if (status !== 200 && (status < 400 || status > 499)) return 'the status is neither 200 nor 4xx';
  if (requestId === null) return 'there is no request id';
  const { data, errors = [] }: { data?: unknown; errors?: { extensions: { code: string; requestId: string } }[] } =
    JSON.parse(body);
  if (data === undefined && errors.length === 0) return 'there is neither data nor an error';
  for (const { extensions } of errors) {
    if (!(extensions.code in errorTable)) return `the code ${extensions.code} is not in the table`;
    if (extensions.code === 'INTERNAL_SERVER_ERROR') return 'there is a bug';
    if (extensions.requestId !== requestId) return 'the request ids differ';
  }
  return null;
}

async function post(body: string | Buffer): Promise<Problem> {
  const signal = AbortSignal.timeout(hangingMs);
  const startedAtMs = performance.now();
  const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body), signal });
  const text = await response.text();
  recordDuration(startedAtMs, body.toString());
  return findProblem(body.toString(), {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    body: text,
  });
}

test('any JSON as a body', async () => {
  const problems = await fuzz(createRandom(seed), (random) => {
    const valid = {
      query: '{ customer { name } }',
      variables: randomJson(random),
      operationName: randomJson(random, 0),
    };
    const body = JSON.stringify(random.chance(0.5) ? valid : randomJson(random));
    return post(random.chance(0.7) ? mutate(random, body) : body);
  });
  expect(problems).toEqual([]);
});

test('any document of the grammar', async () => {
  const schema = buildSchema(contracts.customer.sdl('2026-11-01'));
  const problems = await fuzz(createRandom(seed), (random) => {
    const document = writeRandomDocument(schema, (below) => random.int(below), {
      depth: 1 + random.int(8),
      width: 3,
      fragments: 2,
      hasUniqueAliases: random.chance(0.5),
      isMutation: random.chance(0.3),
    });
    return post(JSON.stringify({ query: random.chance(0.3) ? mutate(random, document) : document }));
  });
  expect(problems).toEqual([]);
});

test('any variables', async () => {
  const documents = [
    'query ($id: ID!) { webhookSubscription(id: $id) { id } webhookDelivery(id: $id) { id } }',
    'query ($first: Int, $after: String) { webhookDeliveries(first: $first, after: $after) { nodes { id } } }',
    'query ($id: ID, $status: WebhookDeliveryStatus) { webhookDeliveries(subscriptionId: $id, status: $status) { nodes { id } } }',
    'mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { userErrors { code } } }',
    'mutation ($input: UpdateWebhookSubscriptionInput!) { updateWebhookSubscription(input: $input) { userErrors { code } } }',
    'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { userErrors { code } } }',
    'mutation ($input: DeleteWebhookSubscriptionInput!) { deleteWebhookSubscription(input: $input) { userErrors { code } } }',
  ];
  const problems = await fuzz(createRandom(seed), (random) => {
    const input = random.chance(0.5)
      ? {
          id: randomJson(random, 0),
          callbackUrl: randomJson(random, 0),
          eventTypes: [{ type: randomJson(random, 0), version: randomJson(random, 0) }],
          webhookSecret: randomJson(random, 0),
          idempotencyKey: randomJson(random, 0),
        }
      : randomJson(random);
    const variables = {
      id: randomJson(random, 1),
      first: randomJson(random, 1),
      after: randomJson(random, 1),
      status: randomJson(random, 1),
      input,
    };
    return post(JSON.stringify({ query: random.pick(documents), variables }));
  });
  expect(problems).toEqual([]);
});

test('any bytes on a connection', async () => {
  const body = '{"query":"{ customer { name } }"}';
  const lines = Object.entries({ Host: 'a', ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const problems = await fuzz(createRandom(seed), (random) => {
    const method = random.pick(['POST', 'POST', 'POST', 'GET', 'HEAD', 'OPTIONS', 'CONNECT', 'PRI', 'TRACE']);
    const target = random.pick([url.pathname, url.href, '/', '*', '//', '/customer/graphql?x=1', '/%00']);
    const framing = random.pick([
      `Content-Length: ${body.length}\r\n\r\n${body}`,
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      `Transfer-Encoding: gzip, chunked\r\n\r\n${body}`,
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      `Upgrade: h2c\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]);
    const request = `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n${framing}`;
    return sendBytes(Buffer.from(random.chance(0.9) ? mutate(random, request) : request, 'latin1'));
  });
  expect(problems).toEqual([]);
});

test('leaves the process running, ready and of a similar size', async () => {
  const app = t.system.apps['customer-api'];
  expect((await fetch(`${app.adminUrl}/ready`)).status).toBe(200);
  expect(await post('{"query":"{ customer { name } }"}')).toBeNull();
  expect(process.kill(app.pid, 0)).toBe(true);
  expect((await residentBytes()) - memoryBefore).toBeLessThan(memoryGrowthBytes);
  process.stdout.write(
    `The slowest response took ${slowest.ms} ms, for the input that starts with ${slowest.input}.\n`,
  );
});

/** Sends bytes and reads until the server closes the connection, or, after the start of a request, gives up on it. */
async function sendBytes(bytes: Buffer): Promise<Problem> {
  const socket = connect(Number(url.port), url.hostname);
  const chunks: Buffer[] = [];
  let startedAtMs = 0;
  socket.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.once('data', () => recordDuration(startedAtMs, bytes.toString('latin1')));
  const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')));
  await once(socket, 'connect');
  startedAtMs = performance.now();
  socket.write(bytes);
  // An incomplete request waits for its rest. The end of the connection is the end of its data.
  const impatient = setTimeout(() => {
    startedAtMs = performance.now();
    socket.end();
  }, 300);
  let isHanging = false;
  const hanging = setTimeout(() => {
    isHanging = true;
    socket.destroy();
  }, hangingMs);
  await closed;
  clearTimeout(impatient);
  clearTimeout(hanging);
  const input = bytes.toString('latin1');
  return isHanging
    ? `no end: ${JSON.stringify(input)}`
    : findProblemOfResponses(input, Buffer.concat(chunks).toString());
}

/** Checks each response in the bytes of a connection. There may be none, because the client may have given up. */
function findProblemOfResponses(input: string, received: string): Problem {
  let rest = received;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    rest = rest.slice(end + 4);
    if (status === 100) continue;
    const [, requestId = null] = /\r\nX-Request-Id: (\S+)/.exec(head) ?? [];
    const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1]);
    const isHead = input.startsWith('HEAD ') && !rest.startsWith('{');
    const body = isHead ? '{"data":null}' : rest.slice(0, length);
    if (!isHead) rest = rest.slice(length);
    const hasHeaders = ['Cache-Control: no-store', 'X-Content-Type-Options: nosniff'].every((line) =>
      head.includes(line),
    );
    const problem = hasHeaders
      ? findProblem(input, { status, requestId, body })
      : `a header is missing: ${JSON.stringify(input)} got ${received}`;
    if (problem !== null) return problem;
  }
  return null;
}
