import {
  backgroundTimeouts,
  createStore,
  type DatabaseTimeouts,
  type PooledStore,
  type StoreOptions,
} from '@deedwire/store';

// Four calls settle, four refill, and some read targets and single lanes.
const connections = 12;
// A bulk round, an express round, a read of the queue, and one to spare.
const fanOutConnections = 4;
const renewalConnections = 2;

// A batch that waits for a locked row is bisected after this time.
const timeouts: DatabaseTimeouts = { ...backgroundTimeouts, lockMs: 1_000 };

/** The pools of connections of a worker. No kind of work can use up the connections of another. */
export interface WorkerStores {
  /** For dispatch. */
  readonly store: PooledStore;
  readonly fanOutStore: PooledStore;
  /** For the lease. */
  readonly renewalStore: PooledStore;
  close(): Promise<void>;
}

/** Opens the pools that `createWebhookEngine` needs. */
export function openStores(
  options: Pick<
    StoreOptions,
    | 'databaseUrl'
    | 'directUrl'
    | 'prepares'
    | 'applicationName'
    | 'onError'
    | 'onExhausted'
    | 'onNotifyError'
    | 'slowStatement'
  >,
): WorkerStores {
  const { applicationName } = options;
  const shared = { ...options, plansOnceByIndexes: true, staysOpen: true, timeouts };
  const store = createStore({ ...shared, maxConnections: connections });
  const fanOutStore = createStore({
    ...shared,
    applicationName: `${applicationName}-fan-out`,
    maxConnections: fanOutConnections,
  });
  const renewalStore = createStore({
    ...shared,
    applicationName: `${applicationName}-lease`,
    maxConnections: renewalConnections,
  });
  return {
    store,
    fanOutStore,
    renewalStore,
    async close() {
      await Promise.all([store.close(), fanOutStore.close(), renewalStore.close()]);
    },
  };
}
