import type { AccountId } from '@deedwire/core';
import { createStore, type Database, type Store } from '@deedwire/store';
import { connect, patientTimeouts } from '@deedwire/testing';
import { onTestFinished, test as base, vi } from 'vitest';
import type { FanOutEvent } from '../../src/events.ts';
import { FanOut, type FanOutOptions } from '../../src/fan-out/fan-out.ts';
import { RenderError, type Renderer } from '../../src/fan-out/renderer.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import { type SubscriptionId, type LaneId, type Shard, shardCount, shardOf } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { explain, type PlanSummary } from '../dispatch-storage/explain.ts';
import {
  createServiceDatabase,
  samplePin,
  seedAccount,
  seedEvents,
  seedSubscription,
  seedWorker,
  type SeededAccount,
} from '../support/seed.ts';
import { setTimer } from '../support/set-timer.ts';

/** Of `vi.waitFor`: guards against hanging only. */
export const waits = { timeout: 100_000, interval: 10 };

/** Registers a cleanup for the end of the test. The last one runs first. */
export function closeAfterTest(cleanUp: () => Promise<void>): void {
  onTestFinished(cleanUp);
}

/** Runs `work` in a transaction, and returns a function that commits it. */
export async function holdTransaction(
  store: Store,
  work: Parameters<Store['transaction']>[0],
): Promise<() => Promise<void>> {
  const worked = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const held = store.transaction(async (transaction) => {
    await work(transaction);
    worked.resolve();
    await commit.promise;
  });
  const end = async (): Promise<void> => {
    commit.resolve();
    await held;
  };
  closeAfterTest(end);
  await worked.promise;
  return end;
}

/** Knows the sample type and a few that fail. */
const renderer: Renderer = {
  knowsType: (type) => type !== 'unknown.type',
  knows: (type, version) => type !== 'unknown.type' && version !== 'unknown',
  render(event, version) {
    if (version === 'broken') throw new RenderError('It cannot be rendered.');
    return Buffer.from(JSON.stringify({ id: event.id, version, data: event.snapshot }));
  },
};

/** Knows every type and version, as a later build would. */
export const laterRenderer: Renderer = { ...renderer, knowsType: () => true, knows: () => true };

export type SubscribedAccount = SeededAccount & { subscriptionId: SubscriptionId };

/** A database with one worker, whose fan-out owns all shards once `start` is called. */
export class FanOutWorld {
  readonly events: FanOutEvent[] = [];
  readonly expected: LaneId[] = [];
  readonly offered: PendingDelivery[] = [];
  readonly changes: LaneId[] = [];
  readonly uncertain: LaneId[] = [];
  readonly behind = new Set<AccountId>();
  readonly #shards = new Set<Shard>();
  readonly store: Store;
  /** Its sessions have the settings of a worker's, with a short lock timeout. */
  readonly workerStore: Store;
  readonly databaseUrl: string;
  readonly workerId: WorkerId;

  private constructor(databaseUrl: string, store: Store, workerStore: Store, workerId: WorkerId) {
    this.databaseUrl = databaseUrl;
    this.store = store;
    this.workerStore = workerStore;
    this.workerId = workerId;
  }

  static async create(): Promise<FanOutWorld> {
    const database = await createServiceDatabase();
    closeAfterTest(() => database.drop());
    const { databaseUrl } = database;
    const store = createStore({ databaseUrl, applicationName: 'fan-out-test', timeouts: patientTimeouts });
    closeAfterTest(() => store.close());
    const workerStore = createStore({
      databaseUrl,
      applicationName: 'fan-out-test-worker',
      plansOnceByIndexes: true,
      timeouts: { ...patientTimeouts, lockMs: 200 },
    });
    closeAfterTest(() => workerStore.close());
    return new FanOutWorld(databaseUrl, store, workerStore, await seedWorker(store));
  }

  /** Adds a subscription that pins one event type. */
  async subscribe(account: SeededAccount, version: string, type = samplePin.type): Promise<SubscriptionId> {
    return this.store.transaction((transaction) =>
      seedSubscription(transaction, account, { pins: [{ type, version }] }),
    );
  }

  /** Adds an account with a subscription that pins the sample type, and so many events after it. */
  /** In its own shard. */
  async addAccount(events = 0): Promise<SubscribedAccount> {
    let account = await seedAccount(this.store);
    while (this.#shards.has(shardOf(account.id))) account = await seedAccount(this.store);
    this.#shards.add(shardOf(account.id));
    const subscriptionId = await this.subscribe(account, samplePin.version);
    if (events > 0) await this.addEvents(account, events);
    return { ...account, subscriptionId };
  }

  async addEvents(account: SeededAccount, count: number, type = samplePin.type, first = 1): Promise<void> {
    await this.store.transaction((transaction) => seedEvents(transaction, account, count, type, first));
  }

  /** Adds an event, wakes its shard, and waits until the delivery is offered. */
  async deliver(fanOut: FanOut, account: SeededAccount): Promise<void> {
    const offered = this.offered.length + 1;
    await this.addEvents(account, 1);
    fanOut.wake([shardOf(account.id)]);
    await vi.waitUntil(() => this.offered.length === offered, waits);
  }

  /** How many entries are blocked. */
  async countBlocked(): Promise<number> {
    return this.count('webhook_event_queue where blocked_on is not null');
  }

  start(options: Partial<FanOutOptions> = {}, isRecovering = false): FanOut {
    const fanOut = new FanOut({
      store: this.workerStore,
      clock: { setTimer },
      workerId: () => this.workerId,
      render: renderer,
      expect: (lanes) => this.expected.push(...lanes),
      offer: (deliveries) => this.offered.push(...deliveries),
      isBehind: (accountId) => this.behind.has(accountId),
      onSubscriptionChanged: async (change) => void this.changes.push(change),
      onUncertain: (lanes) => this.uncertain.push(...lanes),
      onEvent: (event) => this.events.push(event),
      ...options,
      limits: { pollMs: 20, ...options.limits },
    });
    closeAfterTest(() => fanOut.stop());
    fanOut.addShards(Array.from({ length: shardCount }, (_, shard) => ({ shard, isRecovering })));
    return fanOut;
  }

  ofKind<Kind extends FanOutEvent['kind']>(kind: Kind): Extract<FanOutEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<FanOutEvent, { kind: Kind }> => event.kind === kind);
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.store.query<Row & Record<string, unknown>>({ name: '', text }, values);
  }

  /** Summarizes the statement that a function runs, by the larger numbers of its generic and of its custom plan. */
  async explain(run: (database: Database) => Promise<unknown>): Promise<PlanSummary> {
    const connection = await connect(this.databaseUrl);
    try {
      const generic = await explain(connection, run, 'generic');
      const custom = await explain(connection, run, 'custom');
      return {
        nodeTypes: generic.nodeTypes,
        rowsMax: Math.max(generic.rowsMax, custom.rowsMax),
        removedMax: Math.max(generic.removedMax, custom.removedMax),
        buffers: Math.max(generic.buffers, custom.buffers),
      };
    } finally {
      await connection.close();
    }
  }

  /** How often each event in the queue was claimed. */
  async claims(): Promise<number[]> {
    const rows = await this.rows<{ takes: number }>('select takes from webhook_event_queue where event_id is not null');
    return rows.map(({ takes }) => takes);
  }

  async count(table: string): Promise<number> {
    const [row] = await this.rows<{ count: number }>(`select count(*)::int as count from ${table}`);
    return row?.count ?? 0;
  }

  async isQueueEmpty(): Promise<boolean> {
    return (await this.count('webhook_event_queue')) === 0;
  }
}

/** Gives each test its own world. */
export const test = base.extend<{ world: FanOutWorld }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of the fixtures that a fixture needs from here
  world: async ({}, use) => use(await FanOutWorld.create()),
});
