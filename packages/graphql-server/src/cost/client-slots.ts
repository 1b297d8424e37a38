import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/**
 * Acquires a slot for a client, and returns the function that releases it. Requests of a client get its slots in their order.
 *
 * @throws the error of `ClientSlotsOptions.wait` if the slots of the client are occupied for too long.
 */
export type ClientSlots = (clientId: string) => (() => void) | Promise<() => void>;

export interface ClientSlotsOptions {
  /** The slots of each client. */
  perClient: number;
  /** The longest wait, and the error of a longer one. Without it, waits have no limit. */
  wait?: { maxMs: number; refusal: () => Error };
}

interface Client {
  occupied: number;
  /** Called in this order when a slot is free. */
  waiting: (() => void)[];
}

/** With so many clients, those that leave their last slot are forgotten. Adding one again takes longer than finding it. */
const keptMax = 1_000;

/** Limits how much of a resource each client uses at the same time, so that some of it is left for others. */
export function createClientSlots({ perClient, wait: limit }: ClientSlotsOptions): ClientSlots {
  /** Clients that occupy a slot, and some that did. */
  const clients = new Map<string, Client>();

  function addClient(clientId: string): Client {
    const client: Client = { occupied: 0, waiting: [] };
    clients.set(clientId, client);
    return client;
  }

  function leave(clientId: string, client: Client): void {
    const next = client.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    client.occupied -= 1;
    if (client.occupied === 0 && clients.size > keptMax) clients.delete(clientId);
  }

  function wait(client: Client): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { waiting } = client;
    const timer =
      limit &&
      setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(limit.refusal());
      }, limit.maxMs);
    function start(): void {
      clearTimeout(timer);
      resolve();
    }
    waiting.push(start);
    return promise;
  }

  return (clientId) => {
    const client = clients.get(clientId) ?? addClient(clientId);
    const leaveSlot = (): void => leave(clientId, client);
    if (client.occupied >= perClient) return wait(client).then(() => leaveSlot);
    client.occupied += 1;
    return leaveSlot;
  };
}

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
