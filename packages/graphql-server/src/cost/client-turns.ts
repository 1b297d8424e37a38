import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createClientSlots } from './client-slots.ts';

/** Ends a turn. `occupiedMs` is the time for which it occupied the process. */
export type EndTurn = (occupiedMs: number) => void;

/**
 * Resolves when it is the client's turn to occupy the process for milliseconds. A client has one turn at a time, in another round of
 * the event loop than the previous one, and rests after each, so that the requests of others, which take several rounds, come in
 * between.
 */
export type ClientTurns = (clientId: string) => Promise<EndTurn>;

/** Clients that may still rest: those of the last turns that occupied the process. */
const maxResting = 10_000;

/** @param rest how long a client rests, as a multiple of the time for which it occupied the process */
export function createClientTurns(rest: number): ClientTurns {
  const slots = createClientSlots({ perClient: 1 });
  const restsUntilMs = new LRUCache<string, number>({ max: maxResting });

  return async (clientId) => {
    const leave = await slots(clientId);
    await nextRound();
    const restMs = (restsUntilMs.get(clientId) ?? 0) - performance.now();
    if (restMs > 0) await sleep(restMs);
    return (occupiedMs) => {
      if (occupiedMs > 0) restsUntilMs.set(clientId, performance.now() + occupiedMs * rest);
      leave();
    };
  };
}
