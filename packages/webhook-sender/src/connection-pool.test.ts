import { once } from 'node:events';
import { Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createConnectionPool, openConnection } from './connection-pool.ts';

function connection(origin = 'https://receiver.test', ageMs = 0) {
  return openConnection(new URL(origin), new Socket(), performance.now() - ageMs);
}

it('returns the most recently released connection of the origin, once', () => {
  const pool = createConnectionPool();
  const [older, newer, other] = [connection(), connection(), connection('https://other.test')];
  for (const each of [older, newer, other]) pool.release(each);
  expect(pool.take('https://receiver.test')).toBe(newer);
  expect(pool.take('https://receiver.test')).toBe(older);
  expect(pool.take('https://receiver.test')).toBeNull();
  pool.close();
  expect(other.socket.destroyed).toBe(true);
});

it('discards a connection 30 s after its address was vetted', () => {
  const pool = createConnectionPool();
  const [stale, fresh] = [connection(undefined, 30_001), connection(undefined, 29_000)];
  pool.release(fresh);
  pool.release(stale);
  expect(pool.take('https://receiver.test')).toBe(fresh);
  expect(stale.socket.destroyed).toBe(true);
});

it('discards a connection that was idle for 4 s, although its timer has not closed it', () => {
  const pool = createConnectionPool();
  const [first, second] = [connection(), connection()];
  const nowMs = Math.ceil(performance.now());
  const now = vi.spyOn(performance, 'now');
  onTestFinished(() => now.mockRestore());
  now.mockReturnValue(nowMs);
  pool.release(first);
  now.mockReturnValue(nowMs + 2_000);
  expect(pool.take('https://receiver.test')).toBe(first);
  pool.release(first);
  now.mockReturnValue(nowMs + 3_000);
  pool.release(second);
  now.mockReturnValue(nowMs + 5_999);
  expect(pool.take('https://receiver.test')).toBe(second);
  expect(pool.take('https://receiver.test')).toBe(first);
  pool.release(first);
  now.mockReturnValue(nowMs + 9_999);
  expect(pool.take('https://receiver.test')).toBeNull();
  expect(first.socket.destroyed).toBe(true);
});

it('skips a connection that the receiver has closed', () => {
  const pool = createConnectionPool();
  const [open, closed] = [connection(), connection()];
  pool.release(open);
  pool.release(closed);
  closed.socket.destroy();
  expect(pool.take('https://receiver.test')).toBe(open);
});

it('keeps at most 16 connections per origin and 256 in total', () => {
  const pool = createConnectionPool();
  const same = Array.from({ length: 17 }, () => connection());
  for (const each of same) pool.release(each);
  expect(same.filter(({ socket }) => !socket.destroyed)).toHaveLength(16);

  const others = Array.from({ length: 300 }, (_, index) => connection(`https://receiver-${index}.test`));
  for (const each of others) pool.release(each);
  expect(others.filter(({ socket }) => !socket.destroyed)).toHaveLength(240);
  pool.close();
  expect([...same, ...others].every(({ socket }) => socket.destroyed)).toBe(true);
});

it('frees the place of a connection that is taken', () => {
  const pool = createConnectionPool();
  for (let round = 0; round < 300; round += 1) {
    pool.release(connection());
    expect(pool.take('https://receiver.test')).not.toBeNull();
  }
});

it('frees the place of a connection that closes while it is idle', async () => {
  const pool = createConnectionPool(2);
  const closing = [connection('https://a.test'), connection('https://b.test')];
  for (const each of closing) pool.release(each);
  await Promise.all(closing.map(({ socket }) => once(socket.destroy(), 'close')));
  const others = [connection('https://c.test'), connection('https://d.test')];
  for (const each of others) pool.release(each);
  expect(others.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
});

it('keeps no connection after it is closed', () => {
  const pool = createConnectionPool();
  pool.close();
  const late = connection();
  pool.release(late);
  expect(late.socket.destroyed).toBe(true);
});
