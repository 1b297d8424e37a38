import { once } from 'node:events';
import { connect } from 'node:net';
import type { Listening } from '@deedwire/testing';
import { describe, expect, it } from 'vitest';
import { Call } from '../src/call.ts';
import { openConnection } from '../src/connection-pool.ts';
import { delivery, secret, sender } from './sender.ts';
import { httpReceiver, ok, rawReceiver } from './test-receivers.ts';

function open({ connections }: Listening): number {
  return connections.filter(({ destroyed }) => !destroyed).length;
}

describe('a connection', () => {
  it('is reused by handshakes and deliveries, and resolves the name once', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    let resolved = 0;
    const { deliver, verify } = sender({
      resolve: async () => {
        resolved += 1;
        return ['127.0.0.1'];
      },
    });
    const url = `http://receiver.invalid:${receiver.port}/`;
    await verify({ url, secret });
    for (let round = 0; round < 10; round += 1)
      expect(await deliver(delivery(url))).toMatchObject({ responseStatus: 200 });
    expect(receiver.connections).toHaveLength(1);
    expect(resolved).toBe(1);
  });

  it('carries one request at a time', async () => {
    let inFlight = 0;
    const receiver = await rawReceiver((socket) => {
      inFlight += 1;
      setTimeout(() => socket.write(ok), 50);
    });
    const { deliver } = sender();
    const results = await Promise.all(Array.from({ length: 20 }, () => deliver(delivery(receiver.url))));
    expect(results.every(({ responseStatus }) => responseStatus === 200)).toBe(true);
    expect(inFlight).toBe(20);
    expect(receiver.connections).toHaveLength(20);
    // The pool keeps 16 of them.
    await expect.poll(() => open(receiver)).toBe(16);
  });

  it.each([
    ['sends Connection: close', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'],
    ['uses HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    [
      'announces a keep-alive timeout of one second',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n',
    ],
  ])('is not reused when the receiver %s', async (_case, response) => {
    const receiver = await rawReceiver((socket) => socket.write(response));
    const { deliver } = sender();
    for (let round = 0; round < 2; round += 1)
      expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200 });
    expect(receiver.connections).toHaveLength(2);
    await expect.poll(() => open(receiver)).toBe(0);
  });

  it('is not reused when the response was not read completely', async () => {
    const receiver = await httpReceiver((response) => response.end(Buffer.alloc(100_000)));
    const { deliver } = sender();
    for (let round = 0; round < 2; round += 1)
      expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200 });
    expect(receiver.connections).toHaveLength(2);
  });

  it('is not reused when data follows the response', async () => {
    const receiver = await rawReceiver((socket) =>
      socket.write(`${ok}HTTP/1.1 500 Forged\r\ncontent-length: 0\r\n\r\n`),
    );
    const { deliver } = sender();
    for (let round = 0; round < 3; round += 1) {
      expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
    }
    expect(receiver.connections).toHaveLength(3);
  });

  it('does not fail an attempt when the receiver has closed it while idle', async () => {
    const receiver = await rawReceiver((socket) => socket.write(ok, () => setTimeout(() => socket.end(), 10)));
    const { deliver } = sender();
    for (let round = 0; round < 3; round += 1) {
      expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: null });
      // The receiver's side ends only after the sender's side has ended.
      await expect.poll(() => open(receiver)).toBe(0);
    }
    expect(receiver.connections).toHaveLength(3);
  });

  it('fails the attempt, without a second request, when the receiver reads the request and closes', async () => {
    const requests: number[] = [];
    const receiver = await rawReceiver((socket, connection) => {
      requests.push(connection);
      if (requests.length === 1) socket.write(ok);
      else socket.destroy();
    });
    const { deliver } = sender();
    expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200 });
    expect(await deliver(delivery(receiver.url))).toMatchObject({ error: 'CONNECTION_FAILED', responseStatus: null });
    expect(requests).toEqual([1, 1]);
  });

  it('is not replaced when it fails after the response headers', async () => {
    const requests: number[] = [];
    const receiver = await rawReceiver((socket, connection) => {
      requests.push(connection);
      socket.write(requests.length === 1 ? ok : 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\na', () => {
        if (requests.length > 1) setTimeout(() => socket.destroy(), 20);
      });
    });
    const { deliver } = sender();
    await deliver(delivery(receiver.url));
    expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200, error: expect.any(String) });
    expect(requests).toEqual([1, 1]);
  });

  it('is closed at the deadline, and the next attempt opens another', async () => {
    let requests = 0;
    const receiver = await rawReceiver((socket) => {
      requests += 1;
      if (requests !== 2) socket.write(ok);
    });
    const { deliver } = sender();
    const errors = [];
    for (const timeoutMs of [undefined, 150, undefined])
      errors.push((await deliver(delivery(receiver.url, { timeoutMs }))).error);
    expect(errors).toEqual([null, 'TIMEOUT', null]);
    expect(receiver.connections).toHaveLength(2);
  });
});

it('fails a request on a closed connection without opening another', async () => {
  const receiver = await rawReceiver((socket) => socket.write(ok));
  const socket = connect(receiver.port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = openConnection(new URL(receiver.url), socket, performance.now());
  const exchange = () =>
    new Promise((resolve, reject) => {
      const onEnd = ({ error, status }: Call) => (error === null ? resolve({ status }) : reject(error));
      new Call(connection, null, onEnd).start({ path: '/', headers: [], body: Buffer.from('{}') }, 0);
    });
  expect(await exchange()).toMatchObject({ status: 200 });
  socket.destroy();
  await expect(exchange()).rejects.toMatchObject({
    code: 'CONNECTION_FAILED',
    responseStatus: null,
  });
  await expect(exchange()).rejects.toMatchObject({
    code: 'CONNECTION_FAILED',
    responseStatus: null,
  });
  expect(receiver.connections).toHaveLength(1);
});

describe('close', () => {
  it('waits for the attempts in flight and closes all connections', async () => {
    const receiver = await rawReceiver((socket) => setTimeout(() => socket.write(ok), 100));
    const { deliver, close } = sender();
    await deliver(delivery(receiver.url));
    const statuses: unknown[] = [];
    const inFlight = [1, 2].map(async () => statuses.push((await deliver(delivery(receiver.url))).responseStatus));
    await expect.poll(() => receiver.connections.length).toBe(2);
    await close();
    expect(statuses).toEqual([200, 200]);
    await Promise.all(inFlight);
    await expect.poll(() => open(receiver)).toBe(0);
  });

  it('returns at the deadline at the latest', async () => {
    const receiver = await rawReceiver(() => {});
    const { deliver, close } = sender({ timeoutMs: 100 });
    const inFlight = deliver(delivery(receiver.url));
    await close();
    expect(await inFlight).toMatchObject({ error: 'TIMEOUT' });
  });
});
