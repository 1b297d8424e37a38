import { RequestError } from '../errors/request-error.ts';

/**
 * Resolves when the client may run an operation, with a function that ends it. Operations of a client start in the order in which
 * they asked.
 *
 * @throws {RequestError} `SERVICE_UNAVAILABLE` if too many operations of the client run for too long.
 */
export type ClientSlots = (clientId: string) => Promise<() => void>;

export interface ClientSlotsOptions {
  /** Operations of a client that run at a time. */
  perClient: number;
  /** The longest wait. */
  maxWaitMs: number;
}

interface Client {
  running: number;
  /** Called in this order when it is their turn. */
  waiting: Set<() => void>;
}

/**
 * Operations that a client sends at the same moment would otherwise occupy the process one after the other, and all connections to
 * the database, while the requests of others wait.
 */
export function createClientSlots({ perClient, maxWaitMs }: ClientSlotsOptions): ClientSlots {
  /** Clients with an operation that runs. */
  const clients = new Map<string, Client>();

  function leave(clientId: string, client: Client): void {
    const [next] = client.waiting;
    if (next) {
      client.waiting.delete(next);
      next();
      return;
    }
    client.running -= 1;
    if (client.running === 0) clients.delete(clientId);
  }

  function wait(client: Client): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      client.waiting.delete(start);
      reject(
        new RequestError('SERVICE_UNAVAILABLE', {
          message: `The operation was not run: ${perClient} operations of your client run at a time, and the earlier ones take long. Retry after the time in the Retry-After header.`,
        }),
      );
    }, maxWaitMs);
    function start(): void {
      clearTimeout(timer);
      resolve();
    }
    client.waiting.add(start);
    return promise;
  }

  return async (clientId) => {
    const client = clients.get(clientId) ?? { running: 0, waiting: new Set() };
    clients.set(clientId, client);
    if (client.running < perClient) client.running += 1;
    else await wait(client);
    return () => leave(clientId, client);
  };
}
