import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';

/**
 * Shares the process between the requests that occupy it for milliseconds. A client has at most one turn in each round of the event
 * loop, and rests after each, so that the requests of others, which take several rounds, come in between.
 */
export interface ClientTurns {
  /** Resolves when it is the client's turn. */
  next(clientId: string): Promise<void>;
  /** Call it at the end of a turn with the time for which the process was occupied. */
  occupied(clientId: string, ms: number): void;
}

interface Client {
  /** The last turn that a request waits for. */
  last: Promise<void>;
  waiting: number;
  restsUntilMs: number;
}

/** @param rest how long a client rests, as a multiple of the time for which it occupied the process */
export function createClientTurns(rest: number): ClientTurns {
  /** The client that was used last is the last one. */
  const clients = new Map<string, Client>();

  async function after(client: Client, previous: Promise<void>): Promise<void> {
    await previous;
    await nextRound();
    const restMs = client.restsUntilMs - performance.now();
    if (restMs > 0) await sleep(restMs);
  }

  function forgetFirst(): void {
    const nowMs = performance.now();
    for (const [clientId, { waiting, restsUntilMs }] of clients) {
      if (waiting > 0 || restsUntilMs > nowMs) return;
      clients.delete(clientId);
    }
  }

  function clientOf(clientId: string): Client {
    const client = clients.get(clientId) ?? { last: Promise.resolve(), waiting: 0, restsUntilMs: -Infinity };
    clients.delete(clientId);
    clients.set(clientId, client);
    return client;
  }

  return {
    async next(clientId) {
      forgetFirst();
      const client = clientOf(clientId);
      const turn = after(client, client.last);
      client.last = turn;
      client.waiting += 1;
      await turn;
      client.waiting -= 1;
    },
    occupied(clientId, ms) {
      clientOf(clientId).restsUntilMs = performance.now() + ms * rest;
    },
  };
}
