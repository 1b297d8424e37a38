import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { key, type SampleServer, startSampleServer } from './sample-server.ts';

let server: SampleServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

/** Opens a connection and sends a query on it. */
function send(port: number, apiKey: string, document: string): { socket: Socket; received: () => string } {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const body = JSON.stringify({ query: document });
  socket.write(
    `POST /supplier/graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Service-Client-Id: client-1\r\nX-Service-API-Key: ${apiKey}\r\nX-Service-Organization-Id: org-1\r\n\r\n${body}`,
  );
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk))).on('error', () => {});
  return { socket, received: () => received };
}

/** Opens a connection and sends a query on it. Returns the status and the code of the response. */
async function query(port: number, apiKey: string): Promise<string> {
  const { received } = send(port, apiKey, '{ hello }');
  await expect.poll(received).toMatch(/\r\n\r\n./);
  const [, code] = /"code":"(\w+)"/.exec(received()) ?? [];
  const status = received().slice(9, 12);
  return code === undefined ? status : `${status} ${code}`;
}

const opened = async (port: number, apiKey: string, count: number) => {
  const results: string[] = [];
  for (let number = 0; number < count; number += 1) results.push(await query(port, apiKey));
  return results;
};

test('refuses the connections of an address beyond its limit, but not those that sent a valid key', async () => {
  server = await startSampleServer({ config: { MAX_CONNECTIONS_PER_ADDRESS: 3 } });
  expect(await opened(server.port, key.apiKey, 6)).toEqual(Array(6).fill('200'));
  expect(await opened(server.port, 'none', 4)).toEqual([...Array(3).fill('401 UNAUTHENTICATED'), '429 RATE_LIMITED']);
  expect(await query(server.port, key.apiKey)).toBe('429 RATE_LIMITED');
});

test('refuses a connection of a client beyond its limit while the others are in use, and closes it', async () => {
  const limits = { operationMs: 60_000 };
  const { port } = (server = await startSampleServer({ config: { MAX_CONNECTIONS_PER_CLIENT: 3 }, limits }));
  const sent = Array.from({ length: 6 }, () => send(port, key.apiKey, '{ slow }'));
  await expect.poll(() => sent.filter(({ socket }) => socket.closed)).toHaveLength(3);
  const [refused, waiting] = [true, false].map((isClosed) => sent.filter(({ socket }) => socket.closed === isClosed));
  expect(waiting?.map(({ received }) => received())).toEqual(['', '', '']);
  for (const { received } of refused ?? []) {
    expect(received()).toMatch(/^HTTP\/1\.1 429 [^]*\r\nRetry-After: 1\r\n[^]*"code":"RATE_LIMITED"/);
  }
});
