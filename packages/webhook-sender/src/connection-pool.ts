import type { Socket } from 'node:net';
import { Client, parserReason, passInterimResponses } from './undici.ts';

/** One connection to an origin, used by one request at a time. */
export interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly origin: string;
  /** Null if it was closed already. */
  readonly remoteAddress: string | null;
  /** `performance.now()` when its address was vetted. */
  readonly vettedAtMs: number;
  /** `performance.now()` when it was last returned to the pool. Null before that. */
  releasedAtMs: number | null;
  /** Where `socket.bytesRead` may be at the end of the current exchange. Beyond it, the socket fails with `ResponseSizeError`. */
  readMax: number;
  /** Set when the socket fails: what is wrong in the response, in the words of the parser. Null if nothing is. */
  parserReason: string | null;
  /** What the socket reported first. undici reports the last error, which is that the receiver has closed the connection. */
  firstError: Error | null;
}

/** The receiver sent far more than its headers and its body may have. */
export class ResponseSizeError extends Error {}

// A receiver that moves to another address is reached there within this time, even if the connection is always busy. DNS
// rebinding has no effect meanwhile, because the peer of an open connection cannot change.
const maxAgeMs = 30_000;
// Shorter than the 5 s after which common servers close idle connections, so that a request does not race with a close.
const idleMs = 4000;
// Equals the maximum number of attempts that a delivery lane has in flight.
const maxIdlePerOrigin = 16;
const maxResponseHeaderBytes = 16 * 1024;

/** The idle connections. */
export interface ConnectionPool {
  /** Takes an idle connection to the origin that is not too old, or returns null. */
  take(origin: string): Connection | null;
  /**
   * Call after a complete response. Keeps the connection if the receiver left it open and the pool has room, and closes
   * it otherwise.
   */
  release(connection: Connection): void;
  /** Closes all idle connections. The pool keeps no connection from then on. */
  close(): void;
}

export function createConnectionPool(maxIdle = 256): ConnectionPool {
  // An origin stays until one of its connections closes, although all of them are in use: V8 replaces the table of a `Map` after
  // some deletions, and former tables in the old generation keep all later ones until a full collection.
  const idle = new Map<string, Connection[]>();
  let idleCount = 0;
  let closed = false;

  function takeLast(origin: string): Connection | undefined {
    const connection = idle.get(origin)?.pop();
    if (connection !== undefined) idleCount -= 1;
    return connection;
  }

  /** A connection that closes while it is idle must not occupy a place. */
  function forget(connection: Connection): void {
    const connections = idle.get(connection.origin);
    if (connections === undefined) return;
    const index = connections.indexOf(connection);
    if (index !== -1) {
      connections.splice(index, 1);
      idleCount -= 1;
    }
    if (connections.length === 0) idle.delete(connection.origin);
  }

  return {
    take(origin) {
      const nowMs = performance.now();
      // The most recently used first, so that surplus connections reach their idle timeout and close.
      for (let connection = takeLast(origin); connection !== undefined; connection = takeLast(origin)) {
        const { socket, vettedAtMs, releasedAtMs } = connection;
        // The timer of undici is up to half a second late, and later while the process is busy.
        const isIdleTooLong = releasedAtMs !== null && nowMs - releasedAtMs >= idleMs;
        if (!socket.destroyed && !isIdleTooLong && nowMs - vettedAtMs < maxAgeMs) return connection;
        socket.destroy();
      }
      return null;
    },
    release(connection) {
      const { origin, socket } = connection;
      const siblings = idle.get(origin);
      if (closed || socket.destroyed || idleCount >= maxIdle || (siblings?.length ?? 0) >= maxIdlePerOrigin) {
        socket.destroy();
        return;
      }
      if (siblings === undefined) idle.set(origin, [connection]);
      else siblings.push(connection);
      idleCount += 1;
      if (connection.releasedAtMs === null) socket.once('close', () => forget(connection));
      connection.releasedAtMs = performance.now();
    },
    close() {
      closed = true;
      for (const { socket } of [...idle.values()].flat()) socket.destroy();
      idle.clear();
      idleCount = 0;
    },
  };
}

/**
 * Speaks HTTP/1.1 on a connected socket. The connection ends with that socket and never opens another.
 *
 * @param remoteAddress the address of the receiver, if the socket is a tunnel
 */
export function openConnection(
  url: URL,
  socket: Socket,
  vettedAtMs: number,
  remoteAddress: string | null = socket.remoteAddress ?? null,
): Connection {
  const client = new Client(url.origin, {
    connect: (_options, callback) => {
      // undici does not support a synchronous callback. It calls `connect` again if the socket ends while a request is
      // pending, and would do so forever without an error.
      queueMicrotask(() =>
        socket.destroyed ? callback(new Error('The connection is closed'), null) : callback(null, socket),
      );
    },
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: maxResponseHeaderBytes,
    // One deadline covers the whole attempt. The timeouts of undici are coarse and restart with each chunk.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  client.on('connect', () => passInterimResponses(socket));
  const connection: Connection = {
    client,
    socket,
    origin: url.origin,
    remoteAddress,
    vettedAtMs,
    releasedAtMs: null,
    readMax: Infinity,
    parserReason: null,
    firstError: null,
  };
  socket.on('error', (error) => {
    connection.parserReason = parserReason(socket);
    connection.firstError ??= error;
  });
  // The parser of undici bounds headers, but neither reason phrases nor chunk extensions.
  socket.on('readable', () => {
    if (socket.bytesRead > connection.readMax) socket.destroy(new ResponseSizeError('The response has no end'));
  });
  return connection;
}
