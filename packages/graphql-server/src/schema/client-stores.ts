import { type Store, StoreUnavailableError } from '@deedwire/store';
import { createClientSlots } from '../cost/client-slots.ts';

export interface ClientStoresOptions {
  store: Store;
  /** The connections that a client uses at a time: fewer than the store has. */
  perClient: number;
  /** How long a statement waits for the others of its client. */
  maxWaitMs: number;
}

/**
 * Returns the store of a client. Its statements wait for each other, so that the client does not occupy all connections, for
 * example with an operation of 30 fields that wait for the same lock.
 */
export function createClientStores({ store, perClient, maxWaitMs }: ClientStoresOptions): (clientId: string) => Store {
  const slots = createClientSlots({
    perClient,
    wait: {
      maxMs: maxWaitMs,
      refusal: () =>
        new StoreUnavailableError(new Error(`A client occupied ${perClient} connections for ${maxWaitMs} ms.`)),
    },
  });
  async function inSlot<Result>(clientId: string, work: () => Promise<Result>): Promise<Result> {
    const leave = await slots(clientId);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return (clientId) => ({
    query: (statement, values) => inSlot(clientId, () => store.query(statement, values)),
    transaction: (work) => inSlot(clientId, () => store.transaction(work)),
    write: (write) => store.write(write),
    close: () => store.close(),
  });
}
