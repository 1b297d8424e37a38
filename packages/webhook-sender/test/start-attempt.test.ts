import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { AttemptError } from '../src/attempt-error.ts';
import { createAttemptTimeouts } from '../src/attempt-timeouts.ts';
import { createConnectionPool } from '../src/connection-pool.ts';
import { type OnAttemptEnd, startAttempt } from '../src/start-attempt.ts';
import { httpReceiver } from './test-receivers.ts';

type Outcome = { status: number | null | undefined; error: string | undefined };

/** Returns a function that posts to a receiver. `onTake` gets the socket of each connection that was idle, before the request is written. */
function poster(url: string, onTake: (socket: Socket) => void) {
  const pool = createConnectionPool();
  onTestFinished(() => pool.close());
  const dependencies = {
    rules: { policy: 'development', deniedRanges: { includes: () => false } },
    resolve: async () => ['127.0.0.1'],
    proxy: null,
    pool: {
      ...pool,
      take(origin: string) {
        const connection = pool.take(origin);
        if (connection !== null) onTake(connection.socket);
        return connection;
      },
    },
    deadlines: createAttemptTimeouts(),
  } as const;
  const request = {
    url: new URL(url),
    origin: new URL(url).origin,
    path: '/',
    headers: [],
    body: Buffer.from('{}'),
    policy: null,
    timeoutMs: 5_000,
    mask: null,
  };
  return (startMs = performance.now()) =>
    new Promise<Outcome>((resolve) => {
      const onEnd: OnAttemptEnd = (response, error) =>
        resolve({ status: response?.status, error: error instanceof AttemptError ? error.code : undefined });
      startAttempt(dependencies, request, startMs, onEnd);
    });
}

test('an idle connection that closes before the request is written is replaced, and the receiver gets one request', async () => {
  let requests = 0;
  const receiver = await httpReceiver((response) => {
    requests += 1;
    response.end();
  });
  // As the timer of undici does, which can end while a request waits for the next turn of the event loop.
  const post = poster(`http://127.0.0.1:${receiver.port}/`, (socket) => queueMicrotask(() => socket.destroy()));
  for (let round = 0; round < 3; round += 1) expect(await post()).toEqual({ status: 200, error: undefined });
  expect(requests).toBe(3);
  expect(receiver.connections).toHaveLength(3);
});

test('a process that was stopped for longer than the deadline sends nothing when it goes on', async () => {
  let requests = 0;
  const receiver = await httpReceiver((response) => {
    requests += 1;
    response.end();
  });
  const post = poster(`http://127.0.0.1:${receiver.port}/`, () => {});
  // On a new connection, and on an idle one. The timer has not noticed yet that the time has passed.
  for (const sent of [0, 1]) {
    expect(await post(performance.now() - 5_000)).toEqual({ status: undefined, error: 'TIMEOUT' });
    expect(requests).toBe(sent);
    expect(await post()).toEqual({ status: 200, error: undefined });
  }
});
