import { Socket } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { noAddresses } from '../address-ranges.ts';
import { ConnectionHolders, type HeldConnection } from './connection-holders.ts';
import { httpLimits } from './http-limits.ts';
import { type ConnectionLimit, trackConnections } from './open-connections.ts';

function setUp(limits: { connections?: number; connectionsPerClient?: number } = {}) {
  let nowMs = 0;
  const limited: ConnectionLimit[] = [];
  const closed: ConnectionLimit[] = [];
  const connections = trackConnections({
    limits: { ...httpLimits, ...limits },
    trustedProxies: noAddresses,
    monotonicMs: () => nowMs,
    onLimit: (limit) => limited.push(limit),
    onClosed: (limit) => closed.push(limit),
  });
  function open(address = '192.0.2.1'): Socket {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
    connections.add(socket);
    return socket;
  }
  /** Sends a request of a client, and its response. */
  function request(socket: Socket, clientId: string): boolean {
    const connection = connections.of(socket);
    if (!connection) throw new Error('The connection is closed.');
    connections.requestStarted(connection);
    const isAdmitted = connections.authenticated(connection, clientId);
    connections.requestEnded(connection);
    return isAdmitted;
  }
  return { connections, open, request, limited, closed, wait: (ms: number) => (nowMs += ms) };
}

test('accepts 100 connections of an address by default', () => {
  const { open, limited } = setUp();
  for (let count = 0; count < 100; count += 1) open();
  expect(limited).toEqual([]);
  open();
  expect(limited).toEqual(['address']);
});

test('a client has at most 200 connections; the longest idle one makes room after a second', () => {
  const { open, request, closed, limited, wait } = setUp();
  const sockets = Array.from({ length: 200 }, () => {
    const socket = open();
    expect(request(socket, 'client-1')).toBe(true);
    return socket;
  });
  const refused = open();
  expect(request(refused, 'client-1')).toBe(false);
  expect(request(open(), 'client-2')).toBe(true);
  expect({ closed, limited }).toEqual({ closed: [], limited: ['client'] });

  wait(999);
  expect(request(sockets[0] ?? refused, 'client-1')).toBe(true);
  wait(1);
  expect(request(refused, 'client-1')).toBe(true);
  expect({ closed, limited }).toEqual({ closed: ['client'], limited: ['client'] });
  expect(sockets.map(({ destroyed }) => destroyed).indexOf(true)).toBe(1);
});

test('one client that opens 10,000 connections keeps 200, and another one gets in', () => {
  const { open, request, closed, wait } = setUp();
  const sockets = Array.from({ length: 10_000 }, (_, index) => {
    const socket = open(`192.0.${index % 256}.1`);
    request(socket, 'client-1');
    wait(10);
    return socket;
  });
  expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(200);
  expect(closed).toHaveLength(9800);
  expect(request(open('198.51.100.1'), 'client-2')).toBe(true);
});

test('the requests of a connection that closes are no longer in flight', () => {
  const { connections, open } = setUp();
  const socket = open();
  const connection = connections.of(socket);
  if (!connection) throw new Error('The connection is closed.');
  connections.requestStarted(connection);
  connections.requestStarted(connection);
  connections.requestEnded(connection);
  expect(connections.requestsInFlight()).toBe(1);
  socket.emit('close');
  expect(connections.requestsInFlight()).toBe(0);
  connections.requestEnded(connection);
  expect(connections.requestsInFlight()).toBe(0);
});

interface Numbered extends HeldConnection<Numbered> {
  number: number;
}

test('finds the longest idle connection of a largest holder, as a scan of all connections would', () => {
  const change = fc.record({
    kind: fc.constantFrom('move', 'move', 'remove', 'busy', 'idle', 'idle'),
    number: fc.nat(15),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const holders = new ConnectionHolders<Numbered>();
      const all = Array.from({ length: 16 }, (_, number): Numbered => {
        return { number, holder: null, idleSinceMs: 0, previous: null, next: null };
      });
      for (const [nowMs, { kind, number, key }] of changes.entries()) {
        const connection = all[number];
        if (!connection) continue;
        // A connection moves during a request, as when its client is authenticated.
        if (kind === 'move') {
          holders.setIdle(connection, null);
          holders.move(connection, key);
        } else if (kind === 'remove') holders.remove(connection);
        else holders.setIdle(connection, kind === 'busy' ? null : nowMs);

        const sizeOf = (each: Numbered) => all.filter(({ holder }) => holder && holder === each.holder).length;
        const idle = all.filter(({ holder, idleSinceMs }) => holder && idleSinceMs !== null);
        const found = holders.longestIdleOfLargest();
        expect(found === null).toBe(idle.length === 0);
        if (!found) continue;
        expect(sizeOf(found)).toBe(Math.max(...idle.map(sizeOf)));
        const ofSame = idle.filter(({ holder }) => holder === found.holder);
        expect(found.idleSinceMs).toBe(Math.min(...ofSame.map(({ idleSinceMs }) => idleSinceMs ?? Infinity)));
        expect(holders.size(found.holder?.key ?? '')).toBe(sizeOf(found));
      }
    }),
    { numRuns: 100 },
  );
});
