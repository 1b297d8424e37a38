import { createServer } from 'node:net';
import { listen, type Listening } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStore, StoreUnavailableError } from '../src/index.ts';

/** A message of the PostgreSQL protocol: its type, its length with the length itself, and its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const authenticationOk = message('R', Buffer.alloc(4));
const readyForQuery = message('Z', Buffer.from('I'));
const terminated = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

let server: Listening;

/** Accepts every login and ends the session immediately. The client receives both in one piece. */
beforeEach(async () => {
  server = await listen(
    createServer((socket) =>
      socket.once('data', () => socket.end(Buffer.concat([authenticationOk, readyForQuery, terminated]))),
    ),
  );
});

afterEach(() => server.close());

test('fails only its statement when a session ends as soon as it is connected', async () => {
  const store = createStore({
    databaseUrl: `postgres://login@127.0.0.1:${server.port}/database`,
    applicationName: 'test',
  });
  const statement = { name: 'one', text: 'select 1' };
  await expect(store.transaction((transaction) => transaction.query(statement, []))).rejects.toThrow(
    StoreUnavailableError,
  );
  await expect(store.query(statement, [])).rejects.toThrow(StoreUnavailableError);
  await store.close();
});
