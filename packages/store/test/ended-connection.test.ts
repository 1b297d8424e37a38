import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { terminateBackends } from '@deedwire/embedded-postgres';
import { listen, type Listening } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStore, StoreUnavailableError } from '../src/index.ts';
import { createPlatformDatabase } from './support/database.ts';

const database = await forFile(createPlatformDatabase());

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

test('the error of an idle connection contains nothing of its client, so that a log can print it', async () => {
  const errors: unknown[] = [];
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  const { databaseUrl } = database;
  const store = createStore({
    databaseUrl,
    applicationName: 'idle',
    onError: (error) => {
      errors.push(error);
      resolve();
    },
  });
  await store.query({ name: 'one', text: 'select 1' }, []);
  // By then, the connection is in the pool again.
  await sleep(2_500);
  await terminateBackends(databaseUrl);
  await seen;
  await store.close();
  expect(errors).toEqual([expect.any(Error)]);
  const text = inspect(errors, { depth: 10 });
  expect(text).toContain('terminating connection due to administrator command');
  expect(text).not.toMatch(/connectionParameters|Client \{|postgres:\/\//);
});
