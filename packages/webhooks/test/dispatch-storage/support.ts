import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { createStore, type Statement, type Store, type StoreOptions } from '@deedwire/store';
import { connect, type Connection, patientTimeouts } from '@deedwire/testing';
import { failed, delivered } from '../../src/dispatch/classify-attempt.ts';
import type { AttemptRecord, DispatchStorage, Settlement } from '../../src/dispatch/storage.ts';
import { createDispatchStorage } from '../../src/dispatch/store-dispatch.ts';
import type { DispatchStorageEvent } from '../../src/events.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import {
  createServiceDatabase,
  seedAccount,
  seedSubscription,
  seedWorker,
  type SeededAccount,
} from '../support/seed.ts';

/** Runs a statement in a transaction that keeps its locks until the returned function is called. */
export async function hold(databaseUrl: string, text: string, values: unknown[] = []): Promise<() => Promise<void>> {
  const holder = await connect(databaseUrl);
  await holder.run('begin');
  await holder.run(text, values);
  return async () => {
    await holder.run('rollback');
    await holder.close();
  };
}

/** Holds the primary keys of the first attempts of deliveries, so that statements that record them wait. */
export function holdAttempts(
  databaseUrl: string,
  deliveries: readonly PendingDelivery[],
): Promise<() => Promise<void>> {
  return hold(
    databaseUrl,
    `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
     select id, 1, subscription_id, interface, now(), 0, 200 from webhook_delivery where id = any($1)`,
    [deliveries.map(({ deliveryId }) => deliveryId)],
  );
}

/** A database with one account and one worker, and the storage of dispatch as that worker uses it. */
export class StorageWorld {
  readonly database: TestDatabase;
  /** A superuser. */
  readonly admin: Connection;
  /** Sessions with the rights and the settings of a worker. They wait for locks without a limit. */
  readonly store: Store;
  readonly superuser: Store;
  readonly account: SeededAccount;
  workerId: WorkerId;
  readonly events: DispatchStorageEvent[] = [];
  /** How often a statement found that its worker was declared dead. */
  fencedOut = 0;
  readonly storage: DispatchStorage;

  private constructor(
    parts: Pick<StorageWorld, 'database' | 'admin' | 'store' | 'superuser' | 'account' | 'workerId'>,
  ) {
    this.database = parts.database;
    this.admin = parts.admin;
    this.store = parts.store;
    this.superuser = parts.superuser;
    this.account = parts.account;
    this.workerId = parts.workerId;
    this.storage = this.storageOf(() => this.workerId);
  }

  static async create(): Promise<StorageWorld> {
    const database = await createServiceDatabase();
    const superuser = createStore({
      databaseUrl: database.databaseUrl,
      applicationName: 'test-superuser',
      timeouts: patientTimeouts,
    });
    const account = await seedAccount(superuser);
    return new StorageWorld({
      database,
      superuser,
      account,
      admin: await connect(database.databaseUrl),
      store: createWorkerStore(await database.urlFor('webhook_worker')),
      workerId: await seedWorker(superuser),
    });
  }

  storageOf(workerId: () => WorkerId, store: Store = this.store): DispatchStorage {
    return createDispatchStorage({
      store,
      workerId,
      openSecret: (ciphertext, associatedData) =>
        ciphertext.toString() === 'unreadable' ? null : `${associatedData} ${ciphertext.toString()}`,
      onEvent: (event) => void this.events.push(event),
      onFenced: () => (this.fencedOut += 1),
    });
  }

  async drop(): Promise<void> {
    await this.admin.close();
    await this.store.close();
    await this.superuser.close();
    await this.database.drop();
  }

  addLane(): Promise<SubscriptionId> {
    return this.superuser.transaction((transaction) => seedSubscription(transaction, this.account));
  }

  /** Adds deliveries as fan-out does: `{"sequence":1}` and so on, due now in the order of their sequence. */
  async addDeliveries(lane: SubscriptionId, count: number): Promise<void> {
    await this.superuser.query(addDeliveries, [lane, count]);
  }

  /** Adds a lane with deliveries, and reads them as the owner of the shard does. */
  async seedLane<Count extends number>(count: Count): Promise<{ lane: SubscriptionId; deliveries: Deliveries<Count> }> {
    const lane = await this.addLane();
    await this.addDeliveries(lane, count);
    return { lane, deliveries: (await this.read(lane)) as Deliveries<Count> };
  }

  async read(lane: SubscriptionId): Promise<PendingDelivery[]> {
    const { deliveries } = await this.storage.refill(lane, {
      fromDueAtMs: -Infinity,
      limit: 20_000,
      bodyBytesMax: 100_000_000,
      exclude: [],
    });
    return [...deliveries];
  }

  async changeUrl(lane: SubscriptionId): Promise<void> {
    const url = `https://receiver.example/${randomUUID()}`;
    await this.#update(lane, 'callback_url = $2, url_number = url_number + 1', url);
  }

  async pause(lane: SubscriptionId, reason: 'OWNER' | 'OPERATOR' = 'OWNER'): Promise<void> {
    await this.#update(lane, `paused_reason = '${reason}', paused_at = now()`);
  }

  async delete(lane: SubscriptionId): Promise<void> {
    await this.#update(lane, `deleted_at = now(), callback_url = '', secret_ciphertext = ''`);
  }

  async setDue(lane: SubscriptionId, sequence: number, dueAt: string, attempts = 0): Promise<void> {
    await this.admin.run(
      'update webhook_pending_delivery set due_at = $3, attempts = $4 where subscription_id = $1 and sequence = $2',
      [lane, sequence, dueAt, attempts],
    );
  }

  async resume(lane: SubscriptionId): Promise<void> {
    const resumed = 'paused_reason = null, paused_at = null, owner_paused_at = null, url_number = url_number + 1';
    await this.#update(lane, resumed);
  }

  async #update(lane: SubscriptionId, assignments: string, ...values: unknown[]): Promise<void> {
    const text = `update webhook_subscription set ${assignments} where id = $1`;
    await this.superuser.query({ name: '', text }, [lane, ...values]);
  }

  /** Makes a delivery pending again. */
  async replay(delivery: PendingDelivery, attempts: number): Promise<void> {
    await this.admin.run(
      `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
         event_version, occurred_at, sequence, due_at, attempts, body_bytes)
       select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, now(),
         $2, 10
       from webhook_delivery where id = $1`,
      [delivery.deliveryId, attempts],
    );
  }

  /** The contents of all tables that settling can change, for comparisons. */
  async snapshot(): Promise<unknown> {
    return this.admin.run(`
      select (select json_agg(p order by subscription_id, delivery_id) from webhook_pending_delivery p) as pending,
        (select json_agg(a order by delivery_id, number) from webhook_attempt a) as attempts,
        (select json_agg(f order by subscription_id, delivery_id) from webhook_failed_delivery f) as failed,
        (select json_agg(r order by subscription_id) from webhook_receiver_state r) as receivers,
        (select json_agg(s order by id) from webhook_subscription s) as subscriptions`);
  }

  /** How many rows of each kind a lane has. */
  async counts(lane: SubscriptionId): Promise<unknown> {
    const [row] = await this.admin.run(
      `select (select count(*)::int from webhook_pending_delivery where subscription_id = $1) as pending,
         (select count(*)::int from webhook_attempt where subscription_id = $1) as attempts,
         (select count(*)::int from webhook_failed_delivery where subscription_id = $1) as failed`,
      [lane],
    );
    return row;
  }

  /** A further worker that is alive. */
  addWorker(): Promise<WorkerId> {
    return seedWorker(this.superuser);
  }

  /**
   * Declares a worker dead and frees its shards, as after an expired lease. Waits for statements that the worker is
   * running.
   */
  async declareDead(workerId: WorkerId = this.workerId): Promise<void> {
    await this.admin.run('begin');
    await this.admin.run('select from webhook_worker where id = $1 for update', [workerId]);
    await this.admin.run('update webhook_worker set alive = false where id = $1', [workerId]);
    await this.admin.run('commit');
  }
}

/** An array whose length the compiler knows, if it is small. */
type Deliveries<Count extends number> = Count extends 1
  ? [PendingDelivery]
  : Count extends 2
    ? [PendingDelivery, PendingDelivery]
    : Count extends 3
      ? [PendingDelivery, PendingDelivery, PendingDelivery]
      : Count extends 4
        ? [PendingDelivery, PendingDelivery, PendingDelivery, PendingDelivery]
        : PendingDelivery[];

const addDeliveries: Statement = {
  name: 'test-add-deliveries',
  text: `
    with subscription as (
      select id, account_id, interface from webhook_subscription where id = $1
    ), delivery as (
      insert into webhook_delivery (
        account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence
      )
      select s.account_id, s.id, s.interface, new_record_id(), 'order.placed', '2026-11-01', now(), sequence
      from subscription s,
        generate_series(
          (select count(*) from webhook_delivery where subscription_id = $1) + 1,
          (select count(*) from webhook_delivery where subscription_id = $1) + $2
        ) sequence
      returning *
    ), payload as (
      insert into webhook_payload (event_id, event_version, interface, body)
      select event_id, event_version, interface, convert_to('{"sequence":' || sequence || '}', 'UTF8')
      from delivery
    )
    insert into webhook_pending_delivery (
      subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
      sequence, due_at, body_bytes
    )
    select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, 'request',
      sequence, now(), length('{"sequence":' || sequence || '}')
    from delivery`,
};

export function createWorkerStore(databaseUrl: string, options: Partial<StoreOptions> = {}): Store {
  return createStore({ databaseUrl, applicationName: 'test-worker', plansOnceByIndexes: true, ...options });
}

const attemptOf = (delivery: PendingDelivery): AttemptRecord => ({
  number: delivery.attempts + 1,
  startedAt: new Date('2026-11-20T10:00:00.123Z'),
  durationMs: 20,
  responseStatus: 200,
  error: null,
  detail: null,
});

const settlementOf = (delivery: PendingDelivery, changes: Partial<Settlement>): Settlement => ({
  delivery,
  attempt: attemptOf(delivery),
  next: delivered,
  isHastened: false,
  lastAttempt: null,
  hastens: false,
  laneState: null,
  pause: null,
  urlNumber: 1,
  ...changes,
});

export function success(
  delivery: PendingDelivery,
  attempt: Partial<AttemptRecord> = {},
  changes: Partial<Settlement> = {},
): Settlement {
  return settlementOf(delivery, { attempt: { ...attemptOf(delivery), ...attempt }, ...changes });
}

export function failure(delivery: PendingDelivery, delayMs: number, changes: Partial<Settlement> = {}): Settlement {
  const attempt = { ...attemptOf(delivery), responseStatus: 500 };
  const lastAttempt = { atMs: attempt.startedAt.getTime(), isTransient: true };
  return settlementOf(delivery, { attempt, next: { kind: 'retry', delayMs }, lastAttempt, ...changes });
}

export function finalFailure(delivery: PendingDelivery, changes: Partial<Settlement> = {}): Settlement {
  return failure(delivery, 0, { next: failed, ...changes });
}
