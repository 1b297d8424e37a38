import type { Socket } from 'node:net';
import { Client } from 'undici';

/** One connection to an origin, used by one request at a time. */
export interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly origin: string;
  /** `performance.now()` when its address had just been vetted. */
  readonly vettedAtMs: number;
}

// A receiver that moves to another address is followed within this time, however busy the connection is. The peer of an
// open connection cannot change, so a rebound name gains nothing meanwhile.
const maxAgeMs = 30_000;
// Below the 5 s after which common servers close: whoever closes first decides whether a request is lost.
const idleMs = 4000;
// An attempt has at most this many companions to one receiver; more idle connections than that serve nobody.
const maxIdlePerOrigin = 16;
const maxIdle = 256;
const maxResponseHeaderBytes = 16 * 1024;

/** Connections that wait for their next request. */
export interface ConnectionPool {
  /** An idle connection to the origin that is still fresh, or null. */
  take(origin: string): Connection | null;
  /** After a complete answer. Kept if the receiver left it open and there is room, closed otherwise. */
  giveBack(connection: Connection): void;
  /** Closes what is idle; from then on nothing is kept. */
  close(): void;
}

export function createConnectionPool(): ConnectionPool {
  const idle = new Map<string, Connection[]>();
  let idleCount = 0;
  let closed = false;

  function remove(connection: Connection): void {
    const connections = idle.get(connection.origin) ?? [];
    const index = connections.indexOf(connection);
    if (index === -1) return;
    connections.splice(index, 1);
    idleCount -= 1;
    if (connections.length === 0) idle.delete(connection.origin);
  }

  return {
    take(origin) {
      // The latest first: the others then reach their idle time and close.
      for (const connection of (idle.get(origin) ?? []).toReversed()) {
        remove(connection);
        if (!connection.socket.destroyed && performance.now() - connection.vettedAtMs < maxAgeMs) return connection;
        connection.socket.destroy();
      }
      return null;
    },
    giveBack(connection) {
      const { origin, socket } = connection;
      const siblings = idle.get(origin) ?? [];
      if (closed || socket.destroyed || idleCount >= maxIdle || siblings.length >= maxIdlePerOrigin) {
        socket.destroy();
        return;
      }
      siblings.push(connection);
      idle.set(origin, siblings);
      idleCount += 1;
    },
    close() {
      closed = true;
      for (const connection of [...idle.values()].flat()) {
        remove(connection);
        connection.socket.destroy();
      }
    },
  };
}

/** HTTP/1.1 on a socket that is connected, and on no other: when it ends, so does the connection. */
export function openConnection(url: URL, socket: Socket, vettedAtMs: number): Connection {
  const client = new Client(url.origin, {
    connect: (_options, callback) => {
      // In a microtask: undici does not expect the answer before it has finished asking. It asks again when the socket
      // has ended with a request waiting, and without an error it would ask for ever.
      queueMicrotask(() =>
        socket.destroyed ? callback(new Error('The connection has ended'), null) : callback(null, socket),
      );
    },
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: maxResponseHeaderBytes,
    // One deadline covers the whole attempt; undici's own are coarse and start again with each chunk.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { client, socket, origin: url.origin, vettedAtMs };
}
