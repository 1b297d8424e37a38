import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { testService } from '@deedwire/core/test-service';
import { seededRandom } from '@deedwire/testing';
import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { expect, onTestFinished, test } from 'vitest';
import { createStore, migrate, StoreUnavailableError } from '../src/index.ts';
import { createListener } from '../src/notifications/listener.ts';

const int32 = (value: number): Buffer => Buffer.from([value >> 24, value >> 16, value >> 8, value]);
const message = (type: string, ...body: (string | Buffer)[]): Buffer => {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(type), int32(bytes.length + 4), bytes]);
};
const authentication = (code: number, rest = ''): Buffer => message('R', int32(code), rest);
const ready = Buffer.concat([authentication(0), message('Z', 'I')]);

/** A server that opens sessions with `opening`, responds to statements with `response`, and then closes the connection. */
async function startServer(opening: Buffer, response: Buffer = Buffer.alloc(0)): Promise<string> {
  const server = createServer((socket) => {
    const responses = [opening, response];
    socket.on('error', () => {});
    socket.on('data', () => {
      const bytes = responses.shift();
      if (bytes !== undefined) socket.write(bytes);
      if (responses.length === 0 || opening !== ready) socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `postgres://a:b@127.0.0.1:${port}/c`;
}

/** What each use of a connection to the server rejects with. */
async function errorsOf(databaseUrl: string): Promise<unknown[]> {
  const store = createStore({ databaseUrl, applicationName: 'test' });
  const { promise: notListening, resolve: onError } = Promise.withResolvers<unknown>();
  const listener = createListener({ databaseUrl, applicationName: 'test', onWake() {}, onError });
  const uses = [
    store.query({ name: 'one', text: 'select 1' }, []),
    store.transaction(async () => {}),
    migrate(databaseUrl, testService),
  ].map((use) => use.then(() => null).catch((error: unknown) => error));
  const found = await Promise.all(uses);
  expect(await notListening).toBeInstanceOf(Error);
  await listener.close();
  await store.close();
  return found;
}

/** Each is sent while the session opens, and as the response to its first statement. */
const unexpected: Readonly<Record<string, Buffer>> = {
  'Kerberos authentication': authentication(2),
  'SCM authentication': authentication(6),
  'GSS authentication, as `gss` in pg_hba.conf': authentication(7),
  'SSPI authentication': authentication(9),
  'an unknown authentication': authentication(99),
  'SASL without a known mechanism': authentication(10, 'PLAIN-2\0\0'),
  'a message of SASL without its start': authentication(11, 'r=x'),
  'the start of a copy without its columns': message('H', '\0'),
  'a description that ends early': message('T', '\0\x05', 'name\0'),
  'an unknown message': message('?', 'x'),
  'a response of HTTP': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
};

test.each(Object.entries(unexpected))(
  'a server that sends %s is unavailable, and ends no process',
  async (_, bytes) => {
    const uncaught = recordUncaughtErrors();
    for (const databaseUrl of [await startServer(bytes), await startServer(ready, bytes)])
      for (const error of await errorsOf(databaseUrl)) expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(await uncaught()).toEqual([]);
  },
);

test('a session that the server refuses is unavailable, whatever the state', async () => {
  const refusal = message('E', 'SFATAL\0VFATAL\0C42704\0Munrecognized configuration parameter\0\0');
  const errors = await errorsOf(await startServer(refusal));
  expect(errors).toMatchObject(Array.from({ length: 3 }, () => ({ name: 'StoreUnavailableError', reason: '42704' })));
});

test('a server that sends any bytes ends no process', async () => {
  const uncaught = recordUncaughtErrors();
  const errors: unknown[] = [];
  const random = seededRandom(4_711);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let run = 0; run < 300; run += 1) {
    // Without E and N: an error or a notice without an end would keep the parser of pg busy for ever.
    const type = 'RSZKTDCI123AGHWcdnstv'.charAt(below(21));
    const bytes = message(type, Buffer.from(Array.from({ length: below(40) }, () => below(256))), '\0\0');
    const databaseUrl = await (run % 2 === 0 ? startServer(bytes) : startServer(ready, bytes));
    const store = createStore({ databaseUrl, applicationName: 'test' });
    await store.query({ name: 'one', text: 'select 1' }, []).catch((error: unknown) => errors.push(error));
    await store.close();
  }
  expect(await uncaught()).toEqual([]);
  expect(errors.length).toBeGreaterThan(100);
  expect(errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
});
