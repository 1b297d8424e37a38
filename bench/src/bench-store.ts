import { createStore, type Store } from '@deedwire/store';

// Guard against hanging only. On a busy machine, opening a connection or waiting for a free one can take seconds.
const guardMs = 300_000;

/** The store with which a bench prepares its data. */
export function createBenchStore(databaseUrl: string): Store {
  return createStore({
    databaseUrl,
    applicationName: 'deedwire-bench',
    timeouts: { connectMs: guardMs, statementMs: guardMs, lockMs: guardMs, idleInTransactionMs: guardMs },
  });
}
