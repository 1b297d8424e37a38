/**
 * Returns a function that leaves the slot, at once if the client has a free one. A client gets its slots in the order in which it asked.
 *
 * @throws the error of `ClientSlotsOptions.refusal` if the slots of the client are occupied for too long.
 */
export type ClientSlots = (clientId: string) => (() => void) | Promise<() => void>;

export interface ClientSlotsOptions {
  /** The slots of each client. */
  perClient: number;
  /** The longest wait. */
  maxWaitMs: number;
  /** Creates the error of a wait that took longer. */
  refusal: () => Error;
}

interface Client {
  occupied: number;
  /** Called in this order when a slot is free. */
  waiting: (() => void)[];
}

/** With so many clients, those that leave their last slot are forgotten. Adding one again takes longer than finding it. */
const keptMax = 1_000;

/** Limits what each client occupies at a time, so that others find some of it free. */
export function createClientSlots({ perClient, maxWaitMs, refusal }: ClientSlotsOptions): ClientSlots {
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
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(start), 1);
      reject(refusal());
    }, maxWaitMs);
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
