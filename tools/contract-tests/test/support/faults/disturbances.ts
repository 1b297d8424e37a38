import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Connection } from '@deedwire/testing';
import type { FaultSystem } from './fault-system.ts';

/** Sessions of others, such as an administrator or a dump, that disturb a running system. */
export interface Disturbances {
  /** How often each disturbance was there. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many pending deliveries were locked. Neither their result nor a hand-over can be recorded meanwhile. */
  readonly lockedDeliveries: number;
  /** Resolves once the last session has ended. */
  stop(): Promise<void>;
}

interface Disturbance {
  statements: readonly string[];
  holdMs: number;
}

/** The last statement of each returns the rows that it locks, if any. */
const disturbances: Record<string, Disturbance> = {
  'locked deliveries': {
    statements: ['begin', 'select from webhook_pending_delivery order by random() limit 5 for update skip locked'],
    holdMs: 2_000,
  },
  'a locked worker': {
    statements: ['begin', 'select from webhook_worker where alive order by random() limit 1 for update'],
    // Less than a lease, because the worker cannot renew it.
    holdMs: 300,
  },
  'locked subscriptions': {
    statements: ['begin', 'select from webhook_subscription order by random() limit 4 for update'],
    holdMs: 2_000,
  },
  'an open transaction with a position of the queue': {
    statements: ['begin', `select nextval('webhook_queue_position'), pg_current_xact_id()`],
    holdMs: 3_000,
  },
  'an old snapshot': {
    statements: ['begin isolation level repeatable read', 'select count(*) from account'],
    holdMs: 5_000,
  },
};

const lockingDeliveries = 'locked deliveries';

/** Starts one disturbance after the other, at random. A session that another fault ends is one that ends early. */
export function startDisturbances({ t }: FaultSystem): Disturbances {
  const counts = new Map<string, number>();
  const names = Object.keys(disturbances);
  const stopping = new AbortController();
  let lockedDeliveries = 0;

  async function disturb(name: string, { statements, holdMs }: Disturbance): Promise<void> {
    let connection: Connection | null = null;
    try {
      connection = await connect(t.database.databaseUrl);
      let rows: unknown[] = [];
      for (const statement of statements) rows = await connection.run(statement);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (name === lockingDeliveries) lockedDeliveries += rows.length;
      await sleep(holdMs, undefined, { signal: stopping.signal });
    } catch {
      // The session or the wait was ended.
    } finally {
      await connection?.close().catch(() => {});
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const name = names[Math.floor(Math.random() * names.length)] ?? '';
      const disturbance = disturbances[name];
      if (disturbance !== undefined) await disturb(name, disturbance);
      await sleep(50);
    }
  }

  const running = run();
  return {
    counts,
    get lockedDeliveries() {
      return lockedDeliveries;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Lets a subscription of each account pin an event type that no build knows, and queues an event of that type, as an API of a
 * later release does. Returns a function that removes the events again.
 */
export async function queueUnknownEvents({ observer, subscriptions }: FaultSystem): Promise<() => Promise<void>> {
  const ofAccounts = new Map([...subscriptions].map(([subscriptionId, accountId]) => [accountId, subscriptionId]));
  const ids = Array.from(ofAccounts.values(), (gid) => gid.split('/').at(-1));
  await observer.run(
    `with pin as (
       insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
       select id, interface, 'order.unheard_of', '2099-01-01' from webhook_subscription where id = any ($1::bigint[])
     )
     insert into webhook_event_queue (account_id, interface, subscription_id)
     select account_id, interface, id from webhook_subscription where id = any ($1::bigint[])`,
    [ids],
  );
  const queued = await observer.run(
    `with event as (
       insert into webhook_event (account_id, interface, event_type, snapshot)
       select account_id, interface, 'order.unheard_of', '{}' from webhook_subscription where id = any ($1::bigint[])
       returning id, account_id, interface
     )
     insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from event
     returning event_id`,
    [ids],
  );
  const events = queued.map((event) => event['event_id']);
  return async () => {
    const left = await observer.run('delete from webhook_event_queue where event_id = any ($1::bigint[]) returning 1', [
      events,
    ]);
    if (left.length !== events.length) throw new Error(`${events.length - left.length} unknown events are gone.`);
  };
}
