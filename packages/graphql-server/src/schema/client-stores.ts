import {
  type SharedWrite,
  type Store,
  StoreUnavailableError,
  type Transaction,
  type WriteResult,
} from '@deedwire/store';
import { type ClientSlots, createClientSlots } from '../cost/client-slots.ts';

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
    maxWaitMs,
    refusal: () =>
      new StoreUnavailableError(new Error(`A client occupied ${perClient} connections for ${maxWaitMs} ms.`)),
  });
  return (clientId) => new ClientStore(store, slots, clientId);
}

/** Each operation has one, and some use none: closures for all methods would take longer. */
class ClientStore implements Store {
  readonly #store: Store;
  readonly #slots: ClientSlots;
  readonly #clientId: string;

  constructor(store: Store, slots: ClientSlots, clientId: string) {
    this.#store = store;
    this.#slots = slots;
    this.#clientId = clientId;
  }

  async #inSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    const slot = this.#slots(this.#clientId);
    const leave = slot instanceof Promise ? await slot : slot;
    try {
      return await work();
    } finally {
      leave();
    }
  }

  // A method would have to name the type of rows, which belongs to pg.
  readonly query: Store['query'] = (statement, values) => this.#inSlot(() => this.#store.query(statement, values));

  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#inSlot(() => this.#store.transaction(work));
  }

  write<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>> {
    return this.#store.write(write);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
