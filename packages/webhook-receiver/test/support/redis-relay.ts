import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '@deedwire/testing';
import { expect, onTestFinished } from 'vitest';
import { redisStore, type RedisStoreOptions } from '../../src/redis.ts';
import type { RedisServer } from './redis-server.ts';

interface Relay {
  readonly port: number;
  /** The connections that are open respond no longer. */
  hang(): void;
  forwardTo(server: RedisServer): void;
}

/** Forwards connections to the server. */
export async function startRelay(server: RedisServer): Promise<Relay> {
  const links = new Set<Socket>();
  let target = server;
  const relay = await listen(
    createServer((socket) => {
      const upstream = connect(Number(target.client.options.port), '127.0.0.1');
      for (const link of [socket, upstream]) {
        links.add(link);
        link.on('error', () => {}).on('close', () => links.delete(link));
      }
      socket.pipe(upstream).pipe(socket);
    }),
  );
  onTestFinished(() => {
    for (const link of links) link.destroy();
    return relay.close();
  });
  return {
    port: relay.port,
    hang() {
      for (const link of links) link.unpipe().resume();
    },
    forwardTo(other) {
      target = other;
    },
  };
}

/**
 * Processes a delivery, and another one after the connection of the client has hung, for which the client has to open a new one.
 *
 * @returns how many effects both had
 */
export async function effectsAcrossHang(relay: Relay, send: RedisStoreOptions['send']): Promise<number> {
  const store = redisStore({ send, prefix: 'relay' });
  let effects = 0;
  const effect = async (): Promise<void> => {
    await sleep(20);
    effects += 1;
  };
  expect(await store.once('before', effect)).toBe('processed');
  relay.hang();
  await expect
    .poll(() => store.once('after', effect).catch((error: Error) => error.message))
    .toMatch(/processed|duplicate/);
  return effects;
}
