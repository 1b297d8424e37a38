import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '@deedwire/testing';
import { describe, expect, test } from 'vitest';
import type { HttpHandler } from '../src/http/http-server.ts';
import { complete, ok, summary, useRawServers } from './support/raw-servers.ts';

const { start, open, exchange } = useRawServers();

const post = (headers: string, body: string) => `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
const readAll: HttpHandler = async (request, context) => {
  for await (const _ of request);
  return ok(request, context);
};

describe('responses that Node writes by default', () => {
  test.each([
    ['a malformed request line', 'NOPE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'BAD_REQUEST'],
    ['both framings', post('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400, 'BAD_REQUEST'],
    ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a malformed chunk', post('Transfer-Encoding: chunked\r\n', 'zz\r\na\r\n0\r\n\r\n'), 400, 'BAD_REQUEST'],
    [
      'oversized chunk extensions',
      post('Transfer-Encoding: chunked\r\n', `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['an unknown expectation', post('Expect: 200-ok\r\nContent-Length: 1\r\n', 'a'), 417, 'EXPECTATION_FAILED'],
    ['oversized headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['an oversized target', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ])('have our body, code, request id and headers: %s', async (_, bytes, status, code) => {
    const { port, refused, logged } = await start(readAll);
    const response = await exchange(port, bytes);
    expect(response.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(summary(response)).toEqual(complete(status, code));
    expect(refused).toEqual([code]);
    expect(logged).toMatchObject([{ msg: 'request refused', code, status, address: '127.0.0.1' }]);
  });

  test.each([
    ['nothing', '', 'headers'],
    ['headers without an end', 'GET / HTTP/1.1\r\nHost: a\r\n', 'headers'],
    ['a body without an end', post('Content-Length: 9\r\n', 'body'), 'request'],
  ])('have them on a timeout of a client that sends %s', async (_, sent, limit) => {
    const limits = limit === 'headers' ? { headersTimeout: 100 } : { headersTimeout: 2000, requestTimeout: 2100 };
    const { port } = await start(readAll, { limits });
    // Of a process that stalls, the headers can be late too.
    const response = await eventually(async () => {
      const received = await exchange(port, sent);
      expect(received).toMatch(limit === 'headers' ? 'were not complete after 0.1 seconds' : 'after 2.1 seconds');
      return received;
    });
    expect(summary(response)).toEqual(complete(408, 'REQUEST_TIMEOUT'));
  });

  test('name the size of the headers and their limit', async () => {
    const { port } = await start(ok, { limits: { maxHeaderSize: 2048 } });
    const headers = `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(3000)}`;
    expect(await exchange(port, headers)).toMatch(/have at least [23],\d{3} bytes; at most 2,048 are allowed/);

    // Of a later request, Node does not report where it begins.
    const { socket, received, closed } = await open(port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /);
    socket.write(headers);
    expect(await closed).toContain('have more than 2,048 bytes; at most 2,048 are allowed');
  });

  test('follow the response to an earlier request on the connection', async () => {
    const first = Promise.withResolvers<void>();
    const { port } = await start(async (request, context) => {
      await first.promise;
      return ok(request, context);
    });
    const { socket, received, closed } = await open(port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nNOPE\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(received()).toBe('');
    first.resolve();
    const [, one = '', two = ''] = (await closed).split('HTTP/1.1 ');
    expect([one.slice(0, 3), two.slice(0, 3)]).toEqual(['200', '400']);
  });
});

test('keeps all headers, however many there are', async () => {
  let count = 0;
  const { port } = await start(async (request, context) => {
    count = request.rawHeaders.length / 2;
    return ok(request, context);
  });
  await exchange(port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'a:\r\n'.repeat(3000)}\r\n`);
  expect(count).toBe(3002);
});

describe('a response that leaves a body unread', () => {
  test('reaches a client that goes on sending, and then closes the connection after a bounded part of the body', async () => {
    const { port } = await start();
    const { socket, received, closed } = await open(port);
    socket.write(post('Transfer-Encoding: chunked\r\n', ''));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const sending = (async () => {
      while (!socket.destroyed) {
        if (socket.write(chunk)) continue;
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
      }
    })();
    await expect.poll(received).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n/);
    await closed;
    await sending;
    // What the server has read, and what the buffers of both sockets hold.
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(16_000_000);
  });

  test('is the last on its connection', async () => {
    let served = 0;
    const { port } = await start(async (request, context) => {
      served += 1;
      return ok(request, context);
    });
    const { socket, closed } = await open(port);
    socket.write(post('Content-Length: 4\r\n', 'bo'));
    await expect.poll(() => served).toBe(1);
    socket.write('dyGET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await closed).match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(served).toBe(1);
  });

  test('does not close the connection if the body has arrived meanwhile', async () => {
    const { port } = await start(async (request, context) => {
      await expect.poll(() => request.complete).toBe(true);
      return ok(request, context);
    });
    const { socket, received } = await open(port);
    socket.write(post('Content-Length: 4\r\n', 'body'));
    await expect.poll(received).toContain('200 OK');
    expect(received()).toContain('Connection: keep-alive');
  });
});

test('sends 100 Continue only when the handler accepts the body', async () => {
  const { port } = await start(async (request, context) => {
    if (request.url === '/refused') return { ...(await ok(request, context)), status: 401 };
    context.acceptBody();
    return readAll(request, context);
  });
  const head = post('Expect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n', '');
  expect(await exchange(port, head.replace('/', '/refused'))).toMatch(/^HTTP\/1\.1 401 /);

  const { socket, received, closed } = await open(port);
  socket.write(head);
  await expect.poll(received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('body');
  expect(await closed).toMatch(/HTTP\/1\.1 200 /);
});

test('garbage during a response is refused once, after the response', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  const gate = Promise.withResolvers<void>();
  const { port, refused } = await start(async (request, context) => {
    await gate.promise;
    return ok(request, context);
  });
  try {
    const { socket, received, closed } = await open(port);
    socket.setNoDelay(true);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    for (let count = 0; count < 200; count += 1) {
      socket.write('garbage');
      await nextTurn();
    }
    gate.resolve();
    await closed;
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect([refused, warnings]).toEqual([['BAD_REQUEST'], []]);
  } finally {
    process.off('warning', onWarning);
  }
});
