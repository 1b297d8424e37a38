import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { gzipSync } from 'node:zlib';
import { eventually } from '@deedwire/testing';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { delivery as deliveryTo, secret, sender, type TargetedDelivery } from './sender.ts';
import { every, httpReceiver, ok, rawReceiver } from './test-receivers.ts';

const nextSecret = generateWebhookSecret();
const body = Buffer.from('{"name":"Zoë"}');

const delivery = (url: string, more: Partial<TargetedDelivery> = {}) => deliveryTo(url, { body, ...more });

/** Adds headers as the instrumentations of OpenTelemetry and others do, and worse. */
function trace(message: unknown): void {
  const { request } = message as { request: { headers: string[]; addHeader(name: string, value: string): void } };
  request.addHeader('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  request.addHeader('baggage', 'user=1');
  request.headers.unshift('b3', '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1');
  request.headers[3] = 'text/plain';
}

describe('the request', () => {
  it('is a POST with the headers of the sender, the exact body and both signatures', async () => {
    const receiver = await httpReceiver((response) => response.writeHead(204).end());
    const now = new Date('2026-11-01T00:00:00.900Z');
    const result = await sender({ now: () => now }).deliver(
      delivery(receiver.url, {
        nextSecret,
        headers: { 'X-Service-Webhook-Event': 'order.converted', 'X-Service-Webhook-Attempt': '2' },
      }),
    );
    expect(result).toStrictEqual({
      startedAt: now,
      durationMs: expect.any(Number),
      responseStatus: 204,
      error: null,
      retryAfter: null,
    });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hooks?tenant=1', body });
    expect(request?.headers).toStrictEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-length': String(body.length),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'Deedwire-Webhooks/1.0.0',
      'x-service-webhook-event': 'order.converted',
      'x-service-webhook-attempt': '2',
      'x-service-webhook-timestamp': '1793491200',
      'x-service-webhook-signature': expect.any(String),
      'x-service-webhook-signature-next': expect.any(String),
      'webhook-id': 'gid://service/WebhookDelivery/1',
      'webhook-timestamp': '1793491200',
      'webhook-signature': expect.any(String),
    });
    for (const key of [secret, nextSecret]) {
      expect(
        verifyWebhook({ prefix: 'X-Service', headers: request?.headers ?? {}, body, secret: key, now }),
      ).toStrictEqual({
        id: 'gid://service/WebhookDelivery/1',
        timestamp: new Date('2026-11-01T00:00:00Z'),
      });
    }
  });

  it('has no header that a tracer added to it, on a new and on an open connection', async () => {
    subscribe('undici:request:create', trace);
    onTestFinished(() => void unsubscribe('undici:request:create', trace));
    const receiver = await httpReceiver((response) => response.end());
    const target = sender().target({ url: receiver.url, secret });
    for (const attempt of ['1', '2']) {
      const headers = { 'X-Service-Webhook-Attempt': attempt };
      expect(await target.deliver({ webhookId: 'id', body, headers })).toMatchObject({ responseStatus: 200 });
    }
    expect(receiver.requests.map((request) => Object.keys(request.headers).toSorted())).toEqual(
      Array.from({ length: 2 }, () => [
        'accept-encoding',
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
        'webhook-id',
        'webhook-signature',
        'webhook-timestamp',
        'x-service-webhook-attempt',
        'x-service-webhook-signature',
        'x-service-webhook-timestamp',
      ]),
    );
    expect(receiver.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'application/json',
    ]);
    expect(receiver.connections).toHaveLength(1);
  });

  it('carries a body of 256 kB and an empty body', async () => {
    const receiver = await httpReceiver((response) => response.end());
    const { deliver } = sender();
    for (const size of [256 * 1024, 0]) {
      expect(await deliver(delivery(receiver.url, { body: Buffer.alloc(size, 'a') }))).toMatchObject({
        responseStatus: 200,
      });
    }
    expect(receiver.requests.map((request) => request.body.length)).toEqual([256 * 1024, 0]);
  });

  it('does not let a given header override a header of the sender, in any case', async () => {
    const receiver = await httpReceiver((response) => response.end());
    const headers = { 'User-Agent': 'x', 'X-SERVICE-WEBHOOK-SIGNATURE': 'x', 'Webhook-Id': 'x', 'Content-Type': 'x' };
    await sender().deliver(delivery(receiver.url, { headers }));
    const names = receiver.requests[0]?.rawHeaders.filter((_, index) => index % 2 === 0) ?? [];
    expect(new Set(names).size).toBe(names.length);
    expect(receiver.requests[0]?.headers).toMatchObject({
      'user-agent': 'Deedwire-Webhooks/1.0.0',
      'content-type': 'application/json',
    });
    expect(() =>
      verifyWebhook({ prefix: 'X-Service', headers: receiver.requests[0]?.headers ?? {}, body, secret }),
    ).not.toThrow();
  });

  it.each([
    ['a header with a line break', { headers: { 'X-Service-Webhook-Event': 'a\r\nX-Forged: b' } }],
    ['an invalid header name', { headers: { 'x y': 'b' } }],
    ['a malformed secret', { secret: 'whsec_x' }],
  ])('is not sent with %s', async (_case, more) => {
    const receiver = await httpReceiver((response) => response.end());
    expect(await sender().deliver(delivery(receiver.url, more))).toMatchObject({
      error: 'PROTOCOL_ERROR',
      responseStatus: null,
    });
    expect(receiver.requests).toEqual([]);
  });
});

describe('the response', () => {
  it.each([200, 299, 400, 410, 429, 503])('is reported with status %i', async (status) => {
    const receiver = await httpReceiver((response) => response.writeHead(status).end('text'));
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
      responseStatus: status,
      error: null,
      retryAfter: null,
    });
  });

  it.each([301, 303, 308])('may be a redirect with status %i, which is not followed', async (status) => {
    const receiver = await httpReceiver((response) => response.writeHead(status, { location: '/elsewhere' }).end());
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: status, error: null });
    expect(receiver.requests).toHaveLength(1);
  });

  it.each(['120', 'Sun, 01 Nov 2026 00:00:00 GMT'])('is reported with Retry-After: %s', async (retryAfter) => {
    const receiver = await httpReceiver((response) => response.writeHead(503, { 'retry-after': retryAfter }).end());
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 503, retryAfter });
  });

  it.each([
    ['Retry-After: 3600 \t\r\n', '3600'],
    ['Retry-After: 3600\r\nretry-after:  3600 \r\n', '3600, 3600'],
    ['Retry-After:  \r\n', ''],
  ])('is reported without the blanks around a value: %j', async (lines, retryAfter) => {
    const receiver = await rawReceiver((socket) =>
      socket.write(`HTTP/1.1 503 Busy\r\n${lines}Content-Length: 0\r\n\r\n`),
    );
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ error: null, retryAfter });
  });

  it('fails after 16 interim responses, at once and without reading on', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n';
    const receiver = await rawReceiver((socket) => {
      const flood = (): void => {
        while (socket.writable && socket.write(interim.repeat(1_000)));
        socket.once('drain', flood);
      };
      flood();
    });
    // It does not time out.
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
      responseStatus: null,
      error: 'PROTOCOL_ERROR',
    });
    const allowed = await rawReceiver((socket) =>
      socket.write(`${interim.repeat(16)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await sender().deliver(delivery(allowed.url))).toMatchObject({ responseStatus: 200, error: null });
  });

  // Servers may send any of them unasked: RFC 9110, section 15.2.
  it.each([100, 102, 103, 199])(
    'may follow interim responses with status %i, and leaves the connection open',
    async (status) => {
      const interim = `HTTP/1.1 ${status} Wait\r\ncontent-length: 0\r\n\r\n`;
      const receiver = await rawReceiver((socket) => socket.write(`${interim}${interim}${ok}`));
      const { deliver } = sender();
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
      }
      expect(receiver.connections).toHaveLength(1);
    },
  );

  it.each([
    ['reason phrase', null, 'HTTP/1.1 200 ', 'a'],
    ['chunk extension', 200, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'a'],
    ['run of empty lines', null, '', '\r\n'],
  ])('fails after 1 MB of a %s without an end', async (_case, responseStatus, start, repeated) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(start);
      every(1, socket, () => socket.write(repeated.repeat(0x8000)));
    });
    const result = await sender().deliver(delivery(receiver.url));
    expect(result).toMatchObject({ responseStatus, error: 'PROTOCOL_ERROR' });
    const [connection] = receiver.connections;
    await expect.poll(() => connection?.destroyed).toBe(true);
    // The bytes read, plus the socket buffers of both sides.
    expect(connection?.bytesWritten).toBeLessThan(20_000_000);
  });

  it('may end when the connection closes', async () => {
    const receiver = await rawReceiver((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nbody'));
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
  });

  it('is not decompressed, with valid or invalid gzip content', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    for (const content of [bomb, Buffer.from('not gzip')]) {
      const receiver = await httpReceiver((response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(content),
      );
      expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
    }
  });

  it.each([
    ['endless', 'transfer-encoding: chunked', `10000\r\n${'a'.repeat(0x10000)}\r\n`],
    ['very long', 'content-length: 1000000000', 'a'.repeat(0x10000)],
  ])('is reported by its status when the body is %s', async (_case, header, chunk) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
      every(1, socket, () => socket.write(chunk));
    });
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
    const [connection] = receiver.connections;
    await expect.poll(() => connection?.destroyed).toBe(true);
    // The bytes read, plus the socket buffers of both sides.
    expect(connection?.bytesWritten).toBeLessThan(20_000_000);
  });
});

/** Returns the timeout of an attempt, and its result. On a machine that stalls, a status can arrive after the deadline. */
async function timeOutAfter(responseStatus: number | null, url: string) {
  const timeoutMs = responseStatus === null ? 150 : 3000;
  const result = await eventually(async () => {
    const ended = await sender({ timeoutMs }).deliver(delivery(url));
    expect(ended).toMatchObject({ error: 'TIMEOUT', responseStatus, retryAfter: null });
    return ended;
  });
  return { timeoutMs, result };
}

describe('an incomplete response', () => {
  it.each([
    ['no response', null, () => {}],
    ['a partial status line', null, 'HTTP/1.1 2'],
    ['headers that do not end', null, 'HTTP/1.1 200 OK\r\na: b\r\n'],
    ['a body that does not start', 200, 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'],
    ['a body that does not end', 200, 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'],
    ['only a 1xx response', null, 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('times out at the deadline: %s', async (_case, responseStatus, text) => {
    const receiver = await rawReceiver((socket) => (typeof text === 'string' ? socket.write(text) : undefined));
    const { timeoutMs, result } = await timeOutAfter(responseStatus, receiver.url);
    expect(result.durationMs).toBeGreaterThanOrEqual(timeoutMs - 1);
    expect(result.durationMs).toBeLessThan(60_000);
    await expect.poll(() => receiver.connections[0]?.destroyed).toBe(true);
  });

  it('times out at the deadline of its target, whatever that of the sender is', async () => {
    const receiver = await rawReceiver(() => {});
    const { deliver } = sender({ timeoutMs: 60_000 });
    const result = await deliver(delivery(receiver.url, { timeoutMs: 150 }));
    expect(result).toMatchObject({ error: 'TIMEOUT', cause: 'NO_RESPONSE' });
    expect(result.durationMs).toBeLessThan(60_000);
  });

  it.each([
    ['headers', null, 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'],
    ['1xx responses', null, '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['chunks of the body', 200, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\na\r\n'],
  ])('times out when %s keep arriving past the deadline', async (_case, responseStatus, start, drop) => {
    const receiver = await rawReceiver((socket) => {
      socket.write(start);
      every(20, socket, () => socket.write(drop));
    });
    const { result } = await timeOutAfter(responseStatus, receiver.url);
    expect(result.durationMs).toBeLessThan(60_000);
  });

  it('is CONNECTION_FAILED when the connection is refused', async () => {
    const receiver = await rawReceiver(() => {});
    const unused = receiver.port === 1 ? 2 : 1;
    expect(await sender().deliver(delivery(`http://127.0.0.1:${unused}/`))).toMatchObject({
      error: 'CONNECTION_FAILED',
      responseStatus: null,
    });
  });

  it.each([
    ['before the response', null, ''],
    ['in the headers', null, 'HTTP/1.1 200 OK\r\na: b'],
    ['in the body', 200, 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'],
    ['in a chunk', 200, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc'],
  ])('is an error when the connection is reset or closed %s', async (_case, responseStatus, text) => {
    for (const close of ['resetAndDestroy', 'end'] as const) {
      const receiver = await rawReceiver((socket) =>
        socket.write(text || '\r\n', () => setTimeout(() => socket[close](), 20)),
      );
      const result = await sender().deliver(delivery(receiver.url));
      expect(['CONNECTION_FAILED', 'PROTOCOL_ERROR']).toContain(result.error);
      expect(result.responseStatus).toBe(responseStatus);
      expect(receiver.connections).toHaveLength(1);
    }
  });

  it.each([
    ['another protocol', null, 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a TLS alert', null, Buffer.of(0x15, 3, 1, 0, 2, 2, 0x46)],
    ['HTTP/2', null, 'HTTP/2 200 OK\r\n\r\n'],
    ['a missing status', null, 'HTTP/1.1 OK\r\n\r\n'],
    ['two body lengths', null, 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk without a size', 200, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'],
    ['a large header', null, `HTTP/1.1 200 OK\r\na: ${'b'.repeat(17_000)}\r\n\r\n`],
    ['many headers', null, `HTTP/1.1 200 OK\r\n${'a: bcdefgh\r\n'.repeat(3000)}\r\n`],
  ])('is PROTOCOL_ERROR for %s', async (_case, responseStatus, text) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
      error: 'PROTOCOL_ERROR',
      responseStatus,
    });
    await expect.poll(() => receiver.connections[0]?.destroyed).toBe(true);
  });

  const head = 'HTTP/1.1 200 OK\r\n';
  const switching = 'HTTP/1.1 101 Switching Protocols\r\n';
  it.each([
    ['a status that is no number', 'STATUS_INVALID', 'HTTP/1.1 OK\r\n\r\n'],
    ['status 000', 'STATUS_INVALID', 'HTTP/1.1 000 None\r\n\r\n'],
    ['status 099', 'STATUS_INVALID', `HTTP/1.1 099 None\r\n\r\n${ok}`],
    ['status 101', 'PROTOCOL_SWITCHED', `${switching}\r\n`],
    ['status 101 before a response', 'PROTOCOL_SWITCHED', `${switching}\r\n${ok}`],
    ['status 101 with Upgrade', 'PROTOCOL_SWITCHED', `${switching}connection: upgrade\r\nupgrade: h2c\r\n\r\nPRI *`],
    ['a forbidden character in a name', 'HEADER_NAME_INVALID', `${head}x(y: a\r\n\r\n`],
    ['a blank before the colon', 'HEADER_NAME_INVALID', `${head}content-length : 0\r\n\r\n`],
    ['a line without a colon', 'HEADER_NAME_INVALID', `${head}x\r\n\r\n`],
    ['NUL in a value', 'HEADER_VALUE_INVALID', `${head}x: a\0b\r\n\r\n`],
    ['DEL in a value after a length', 'HEADER_VALUE_INVALID', `${head}content-length: 2\r\nx: a\u007Fb\r\n\r\nok`],
    ['a folded header', 'HEADER_FOLDED', `${head}x: a\r\n b\r\n\r\n`],
    ['a blank before the first name', 'HEADER_FOLDED', `${head} x: a\r\n\r\n`],
    ['LF without CR after the status', 'LINE_END_INVALID', 'HTTP/1.1 204 No Content\n\n'],
    ['LF without CR after a length', 'LINE_END_INVALID', `${head}content-length: 2\n\r\nok`],
    ['CR without LF in a value', 'LINE_END_INVALID', `${head}x: a\rb\r\n\r\n`],
    ['CR without LF after the headers', 'LINE_END_INVALID', `${head}x: a\r\n\rb`],
    ['the same length twice', 'LENGTHS_CONFLICT', `${head}content-length: 2\r\ncontent-length: 2\r\n\r\nok`],
    ['a length, then chunks', 'LENGTHS_CONFLICT', `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['chunks, then a length', 'LENGTHS_CONFLICT', `${head}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n`],
    ['two lengths in one header', 'LENGTH_INVALID', `${head}content-length: 2, 2\r\n\r\nok`],
    ['a length that is no number', 'LENGTH_INVALID', `${head}content-length: x\r\n\r\n`],
    ['an empty length', 'LENGTH_INVALID', `${head}content-length:\r\n\r\n`],
    ['a length that is too large', 'LENGTH_INVALID', `${head}content-length: ${'9'.repeat(30)}\r\n\r\n`],
    ['an SSH server', 'NOT_HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['HTTP/2', 'NOT_HTTP', 'HTTP/2 200 OK\r\n\r\n'],
  ])('tells %s as %s', async (_case, cause, text) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
      error: 'PROTOCOL_ERROR',
      cause,
      responseStatus: null,
    });
  });

  it.each([
    ['no size', 'CHUNK_INVALID', 'x\r\n'],
    ['a wrong size', 'CHUNK_INVALID', '1\r\nabc\r\n0\r\n\r\n'],
    ['LF without CR', 'CHUNK_INVALID', '1\na\n0\n\n'],
    ['an invalid trailer', 'CHUNK_INVALID', '0\r\nx(: a\r\n\r\n'],
    ['no end', 'BODY_ENDED_EARLY', '1\r\na\r\n'],
    ['an end within one', 'BODY_ENDED_EARLY', '5\r\nab'],
  ])('tells chunks with %s as %s, with their status', async (_case, cause, chunks) => {
    for (const connection of ['close', 'keep-alive']) {
      const receiver = await rawReceiver((socket) =>
        socket.end(`${head}connection: ${connection}\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`),
      );
      expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
        cause,
        responseStatus: 200,
      });
    }
  });

  it.each(['close', 'keep-alive'])(
    'tells a body that is shorter than its length, with connection: %s',
    async (value) => {
      const receiver = await rawReceiver((socket) =>
        socket.end(`${head}connection: ${value}\r\ncontent-length: 5\r\n\r\nab`),
      );
      expect(await sender().deliver(delivery(receiver.url))).toMatchObject({
        cause: 'BODY_ENDED_EARLY',
        responseStatus: 200,
      });
    },
  );

  it('does not result from headers just under 16 kB', async () => {
    const receiver = await httpReceiver((response) => response.writeHead(200, { a: 'b'.repeat(15_900) }).end());
    expect(await sender().deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
  });
});
