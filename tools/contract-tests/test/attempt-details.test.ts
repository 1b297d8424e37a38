import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createHarness } from '@deedwire/dev-environment/harness';
import { eventually, missing, postGraphql, type Receiver, type Respond, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;
await harness.startWorker();

interface Header {
  name: string;
  value: string;
}

interface Exchange {
  callbackUrl: string | null;
  requestHeaders: Header[];
  responseHeaders: Header[];
  remoteAddress: string | null;
  firstByteMs: number | null;
  responseBody: string | null;
  responseBodyBase64: string | null;
  responseBytes: number;
}

interface Attempt {
  number: number;
  responseStatus: number | null;
  error: string | null;
  advice: string | null;
  exchange: Exchange | null;
}

const headers = '{ name value }';
const bodies = 'responseBody responseBodyBase64';
const everything = `callbackUrl requestHeaders ${headers} remoteAddress dnsMs connectMs tlsMs firstByteMs
  responseHeaders ${headers} ${bodies} responseBytes replayId`;

interface Data {
  webhookDeliveries: { nodes: { id: string; attempts: Attempt[] }[] };
}

async function ask(query: string): Promise<{ data: Data; bytes: number; actual: number; requested: number }> {
  const credential = harness.accounts.customer.credential;
  const { status, body } = await postGraphql<Data>(`${service.url}/customer/graphql`, credential, { query });
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  const { cost } = Object(body).extensions as { cost: { actualQueryCost: number; requestedQueryCost: number } };
  return {
    data: body.data ?? missing(),
    bytes: Buffer.byteLength(JSON.stringify(body)),
    actual: cost.actualQueryCost,
    requested: cost.requestedQueryCost,
  };
}

/** The first attempt of the delivery of a new event to a new subscription, with its details, and what the receiver got. */
async function firstAttempt(
  respond: Respond,
  timeoutSeconds?: number,
): Promise<{
  attempt: Attempt;
  receiver: Receiver;
  deliveryId: string;
  subscriptionId: string;
}> {
  const receiver = await startReceiver();
  await harness.forgetHandshakes();
  const { id } = await harness.subscribe(receiver.url, ['order.placed'], undefined, timeoutSeconds);
  onTestFinished(async () => {
    await harness.sql(`update webhook_subscription set deleted_at = now() where id = ${id.split('/').at(-1)}`);
    await receiver.close();
  });
  receiver.onDelivery = respond;
  await harness.place(1);
  const query = `{ webhookDeliveries(first: 1 subscriptionId: "${id}") { nodes { id
    attempts(first: 1 before: 2) { number responseStatus error advice exchange { ${everything} } } } } }`;
  return eventually(async () => {
    const { data } = await ask(query);
    const [{ id: deliveryId, attempts: [attempt] } = missing()] = data.webhookDeliveries.nodes;
    expect(attempt?.exchange ?? null).not.toBe(null);
    return { attempt: attempt ?? missing(), receiver, deliveryId, subscriptionId: id };
  });
}

const writes =
  (...parts: (Buffer | string)[]): Respond =>
  ({ socket }) => {
    socket?.on('error', () => {});
    for (const part of parts) socket?.write(part);
  };
const ofLength = (body: Buffer, ...more: string[]): string =>
  ['HTTP/1.1 500 X', `content-length: ${body.length}`, ...more, '', ''].join('\r\n');
const answer = (body: Buffer, ...more: string[]): Respond => writes(ofLength(body, ...more), body);

test('shows what was sent as the receiver got it, and what came back', async () => {
  const { attempt, receiver } = await firstAttempt((response) =>
    response.writeHead(404, { 'X-Many': ['a', 'b'] }).end('{"error":"no such path"}'),
  );
  const { exchange } = attempt;
  const sent = exchange?.requestHeaders.flatMap(({ name, value }) => [name, value]);
  expect(sent).toEqual(receiver.deliveries[0]?.rawHeaders);
  expect(exchange).toMatchObject({
    callbackUrl: receiver.url,
    remoteAddress: '127.0.0.1',
    firstByteMs: expect.any(Number),
    responseHeaders: expect.arrayContaining([
      { name: 'x-many', value: 'a' },
      { name: 'x-many', value: 'b' },
    ]),
    responseBody: '{"error":"no such path"}',
    responseBodyBase64: null,
    responseBytes: 24,
  });
});

const page =
  (status: number, body: string): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end(`<!DOCTYPE html><html>${body}`);

test.each<[string, Respond, string]>([
  ['a CSRF check of Laravel', page(419, '<title>Page Expired</title>'), 'A CSRF check refused the request. '],
  ['a CSRF check of Django', page(403, '<p>CSRF verification failed.'), 'A CSRF check refused the request. '],
  [
    'a redirect to a login',
    (response) => response.writeHead(307, { location: '/sign-in?redirect_url=%2F' }).end(),
    'A login protects the URL. ',
  ],
])('the advice of an attempt names %s', async (_, respond, start) => {
  const { attempt } = await firstAttempt(respond);
  expect(attempt.advice?.slice(0, start.length)).toBe(start);
});

test('shows the callback URL of the request until the subscription gets another one, even after it was resumed', async () => {
  const { deliveryId, subscriptionId, receiver } = await firstAttempt((response) => response.writeHead(410).end());
  const other = await forTest(startReceiver());
  const urlOfAttempt = async (): Promise<unknown> => {
    const { data } = await ask(
      `{ webhookDelivery(id: "${deliveryId}") { attempts(first: 1) { exchange { callbackUrl } } } }`,
    );
    return Object(data).webhookDelivery.attempts[0].exchange.callbackUrl;
  };
  const id = JSON.stringify(subscriptionId);
  await eventually(async () =>
    expect(await harness.sql('select from webhook_subscription where paused_at is not null')).toHaveLength(1),
  );
  // A further 410 would pause the subscription again, and the change of the URL would then resume it.
  receiver.onDelivery = (response) => response.writeHead(500).end();
  await ask(
    `mutation { resumeWebhookSubscription(input: { id: ${id} }) { userErrors { code } webhookSubscription { status } } }`,
  );
  expect(await harness.sql('select from webhook_subscription where url_number = 2')).toHaveLength(1);
  // Details are stored a little later than the attempt.
  await eventually(async () => expect(await urlOfAttempt()).toBe(receiver.url));
  await harness.forgetHandshakes();
  const updated = await ask(
    `mutation { updateWebhookSubscription(input: { id: ${id} callbackUrl: "${other.url}" }) { userErrors { code } } }`,
  );
  expect(updated.data).toEqual({ updateWebhookSubscription: { userErrors: [] } });
  expect(await harness.sql('select from webhook_subscription where url_number = 3')).toHaveLength(1);
  await eventually(async () => expect(await urlOfAttempt()).toBe(null));
});

describe('a hostile receiver', () => {
  const kept = 16 * 1024;
  const invalid = Buffer.from('caf\u00e9 \u00ff', 'latin1');
  const nul = Buffer.from('a\0b');
  const binary = randomBytes(60_000);
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const long = Buffer.alloc(16 << 20, 'x');
  const splits = Buffer.from(`${'x'.repeat(kept - 1)}é and more`);

  test.each<[string, Respond, Partial<Attempt>, Partial<Exchange>]>([
    ['16 MB', answer(long), {}, { responseBody: 'x'.repeat(kept) }],
    ['a gzip bomb', answer(bomb, 'content-encoding: gzip'), {}, { responseBodyBase64: bomb.toString('base64') }],
    [
      'binary',
      answer(binary),
      {},
      { responseBodyBase64: binary.subarray(0, kept).toString('base64'), responseBytes: 60_000 },
    ],
    ['invalid UTF-8', answer(invalid), {}, { responseBodyBase64: invalid.toString('base64') }],
    ['NUL', answer(nul), {}, { responseBodyBase64: nul.toString('base64') }],
    ['a text that is cut within a character', answer(splits), {}, { responseBody: 'x'.repeat(kept - 1) }],
    [
      'an endless body',
      writes('HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n', '3\r\nabc\r\n'),
      { error: 'TIMEOUT', responseStatus: 500 },
      { responseBody: 'abc', responseBytes: 3 },
    ],
    [
      '10,000 headers',
      answer(Buffer.alloc(0), ...Array.from({ length: 10_000 }, (_, index) => `h${index}: v`)),
      { error: 'PROTOCOL_ERROR', responseStatus: null },
      { responseHeaders: [], responseBody: null, responseBodyBase64: null, responseBytes: 0 },
    ],
    [
      'something else than HTTP',
      writes(Buffer.from([0, 1, 2, 255])),
      { error: 'PROTOCOL_ERROR', responseStatus: null },
      { responseHeaders: [], responseBody: null },
    ],
  ])('that returns %s is shown within the bounds', async (_, respond, attempt, exchange) => {
    const found = await firstAttempt(respond, attempt.error === 'TIMEOUT' ? 5 : 15);
    expect(found.attempt).toMatchObject({
      number: 1,
      error: null,
      ...attempt,
      exchange: { responseBody: null, responseBodyBase64: null, ...exchange },
    });
  });

  test('that returns 2,000 headers is shown with 40 of them', async () => {
    const { attempt } = await firstAttempt(
      answer(Buffer.alloc(0), ...Array.from({ length: 2_000 }, (_, index) => `h${index}:`)),
    );
    expect(attempt.exchange?.responseHeaders).toHaveLength(40);
  });
});

/** An SQL array of names and values. Names have ASCII characters that JSON does not escape. */
const headerArray = (count: number, of: string, name: number, value: number) =>
  `(select array_agg(part) from generate_series(1, ${count}), unnest(array[repeat('x', ${name}), repeat('${of}', ${value})]) part)`;

/**
 * Makes a delivery have 20 attempts whose details are as large as they can be. All headers of a response have at most 16 kB, and
 * those of a request, which Deedwire chooses, less than 3 kB.
 */
async function enlarge(deliveryId: string, body: Buffer, character: string): Promise<void> {
  const id = deliveryId.split('/').at(-1);
  const value = Math.floor(300 / Buffer.byteLength(character));
  await harness.sql(`delete from webhook_attempt where delivery_id = ${id}`);
  await harness.sql(`
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, number, subscription_id, interface, now(), 1, 500 from webhook_delivery, generate_series(1, 20) number
    where id = ${id}`);
  await harness.sql(
    `insert into webhook_exchange (delivery_id, number, started_at, subscription_id, interface, url_number, request_headers,
       remote_address, response_headers, body, body_bytes)
     select delivery_id, number, started_at, subscription_id, interface, 1, ${headerArray(22, 'x', 32, 100)}, '::1', ${headerArray(40, character, 100, value)}, $1, 65536
     from webhook_attempt where delivery_id = ${id}`,
    [body],
  );
}

test.each([
  ['base64', Buffer.alloc(16_384, 255), 'x', 15],
  // Each character has two bytes in JSON.
  ['a text that JSON escapes', Buffer.alloc(16_384, '"'), '"', 14],
  ['a text in another script', Buffer.from('€'.repeat(5_461)), '€', 15],
])('20 of the largest exchanges, %s, fit into a response', async (_, body, character, whole) => {
  const { deliveryId } = await firstAttempt((response) => response.writeHead(410).end());
  await enlarge(deliveryId, body, character);
  for (const selection of [
    `attempts(first: 20) { exchange { ${bodies} responseBytes } }`,
    `attempts(first: 20) { exchange { requestHeaders ${headers} responseHeaders ${headers} } }`,
    `attempts(first: ${whole}) { number startedAt durationMs responseStatus error advice exchange { ${everything} } }`,
  ]) {
    const { bytes, requested } = await ask(`{ webhookDelivery(id: "${deliveryId}") { ${selection} } }`);
    expect(requested).toBeLessThanOrEqual(1_000);
    expect(bytes).toBeLessThan(1_000_000);
  }
});

test('a dry run of a replay costs the deliveries that it reads, including those of other types', async () => {
  const { subscriptionId } = await firstAttempt((response) => response.writeHead(410).end());
  const dryRun = `mutation { replayWebhookEvents(input: { subscriptionId: "${subscriptionId}" since: "2026-01-02T00:00:00Z"
    onlyFailed: false eventTypes: ["api_key.created"] dryRun: true }) { estimate { count } userErrors { code } } }`;
  const before = await ask(dryRun);
  await harness.sql(
    `insert into webhook_delivery (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select id, account_id, interface, 1, 'order.placed', '2026-11-01', now(), number
     from webhook_subscription, generate_series(2, 2001) number
     where id = $1`,
    [subscriptionId.split('/').at(-1)],
  );
  const { data, actual } = await ask(dryRun);
  expect(data).toMatchObject({ replayWebhookEvents: { estimate: { count: 0 }, userErrors: [] } });
  expect(actual - before.actual).toBeGreaterThanOrEqual(9);
  expect(actual - before.actual).toBeLessThanOrEqual(11);
});

test('the question about one delivery, with its payload and its last exchange, costs at most 200 points', async () => {
  const { deliveryId } = await firstAttempt(answer(Buffer.alloc(60_000, 'x')));
  const { actual } = await ask(`{ webhookDelivery(id: "${deliveryId}") {
    status createdAt attemptCount event { eventId type version timestamp } payload nextAttemptAt
    delay { reason since until message } subscription { id callbackUrl status }
    attempts(first: 1) { number startedAt durationMs responseStatus error advice exchange { ${everything} } } } }`);
  expect(actual).toBeLessThanOrEqual(200);
});
