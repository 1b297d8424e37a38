import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';

/** Ends a turn. `occupiedMs` is the time for which it occupied the process. */
export type EndTurn = (occupiedMs: number) => void;

/**
 * Resolves when it is the client's turn to occupy the process for milliseconds. A client has one turn at a time, in another round of
 * the event loop than the previous one, and rests after each, so that the requests of others, which take several rounds, come in
 * between.
 */
export type ClientTurns = (clientId: string) => Promise<EndTurn>;

interface Client {
  /** Resolves when the last turn ends. */
  last: Promise<void>;
  /** Turns that have not ended. */
  open: number;
  restsUntilMs: number;
}

/** @param rest how long a client rests, as a multiple of the time for which it occupied the process */
export function createClientTurns(rest: number): ClientTurns {
  /** The client that was used last is the last one. */
  const clients = new Map<string, Client>();

  function clientOf(clientId: string): Client {
    const client = clients.get(clientId) ?? { last: Promise.resolve(), open: 0, restsUntilMs: -Infinity };
    clients.delete(clientId);
    clients.set(clientId, client);
    return client;
  }

  function forgetFirst(): void {
    const nowMs = performance.now();
    for (const [clientId, { open, restsUntilMs }] of clients) {
      if (open > 0 || restsUntilMs > nowMs) return;
      clients.delete(clientId);
    }
  }

  return async (clientId) => {
    forgetFirst();
    const client = clientOf(clientId);
    const previous = client.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    client.last = promise;
    client.open += 1;
    await previous;
    await nextRound();
    const restMs = client.restsUntilMs - performance.now();
    if (restMs > 0) await sleep(restMs);
    return (occupiedMs) => {
      client.open -= 1;
      client.restsUntilMs = performance.now() + occupiedMs * rest;
      resolve();
    };
  };
}
