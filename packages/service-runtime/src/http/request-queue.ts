import type { Socket } from 'node:net';

/** The requests of a connection that have arrived before they may start. */
export interface RequestQueue {
  /** Starts a request now, or once `mayStart` allows it and those before it have started. */
  add(start: () => void): void;
  /** Starts requests that may start now. */
  advance(): void;
  /** Forgets the requests that wait. */
  drop(): void;
  /** Forgets the requests that wait, and reads the connection no further. */
  stop(): void;
}

/**
 * While requests wait, the connection is not read. Node parses all that it has read at once, so at most the requests of one
 * read (64 kB) wait.
 */
export function createRequestQueue(socket: Socket, mayStart: () => boolean): RequestQueue {
  const waiting: (() => void)[] = [];
  return {
    add(start) {
      if (waiting.length === 0 && mayStart()) {
        start();
        return;
      }
      if (waiting.length === 0) stopReading(socket);
      waiting.push(start);
    },
    advance() {
      if (waiting.length === 0) return;
      while (waiting.length > 0 && mayStart()) waiting.shift()?.();
      if (waiting.length === 0) continueReading(socket);
    },
    drop() {
      waiting.length = 0;
    },
    stop() {
      waiting.length = 0;
      stopReading(socket);
    },
  };
}

/** Node resumes a connection after each response, which would add requests to those that wait. */
function stopReading(socket: Socket): void {
  socket.pause();
  socket.resume = () => socket;
}

function continueReading(socket: Socket): void {
  if (!Object.hasOwn(socket, 'resume')) return;
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}
