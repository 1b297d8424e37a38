import { createStore, type Store } from '@deedwire/store';
import { createListener, type Listener } from '@deedwire/store/listener';
import { connect, eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkersEvent } from '../../src/events.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import type { Shard } from '../../src/kernel/ids.ts';
import { type AcquiredShard, type InFlightDelivery, workersChanged } from '../../src/workers/sql/shard-rows.ts';
import { Workers } from '../../src/workers/workers.ts';
import { pendingKey, seedPending } from '../support/seed-pending.ts';
import { createServiceDatabase } from '../support/seed.ts';
import { setTimer } from '../support/set-timer.ts';

const hourMs = 3_600_000;

let members: Member[] = [];

/** A worker of this process, which records what the engine would do. Only `expire` ends its lease. */
class Member {
  readonly store: Store;
  readonly renewalStore: Store;
  readonly workers: Workers;
  readonly events: WorkersEvent[] = [];
  /** The shards on which the engine works. */
  readonly working = new Map<Shard, AcquiredShard>();
  inFlight: InFlightDelivery[] = [];
  /** The shards whose recovery the engine has not finished. */
  readonly recovering = new Set<Shard>();
  isStalled = false;
  losses = 0;
  passes = 0;

  constructor(renewMs = 25, leaseMs = hourMs) {
    const store = createStore({ databaseUrl, applicationName: 'test' });
    this.store = {
      ...store,
      query: (statement, values) => {
        if (statement.name === 'select-membership') this.passes += 1;
        return store.query(statement, values);
      },
    };
    this.renewalStore = createStore({ databaseUrl, applicationName: 'test-renewal', maxConnections: 2 });
    this.workers = new Workers({
      store: this.store,
      renewalStore: this.renewalStore,
      clock: { setTimer },
      name: 'test',
      leaseMs,
      renewMs,
      sendsMail: false,
      isStalled: () => this.isStalled,
      onAcquired: async (shards) => {
        for (const shard of shards) this.working.set(shard.shard, shard);
      },
      recoveringIn: (shards) => shards.filter((shard) => this.recovering.has(shard)),
      onReleasing: async (shards) => {
        for (const shard of shards) {
          this.working.delete(shard);
          this.recovering.delete(shard);
        }
      },
      inFlight: () => this.inFlight,
      onLost: async () => {
        this.losses += 1;
        this.working.clear();
      },
      onEvent: (event) => this.events.push(event),
    });
  }

  /** All shards that it has acquired from a dead worker. */
  get recovered(): Shard[] {
    return this.events
      .flatMap((event) => (event.kind === 'shards-acquired' ? event.shards : []))
      .filter(({ isRecovering }) => isRecovering)
      .map(({ shard }) => shard);
  }

  async close(): Promise<void> {
    await this.workers.stop();
    await this.store.close();
    await this.renewalStore.close();
  }
}

async function startMember(renewMs?: number, leaseMs?: number): Promise<Member> {
  const member = new Member(renewMs, leaseMs);
  members.push(member);
  await member.workers.start();
  return member;
}

/** Simulates a process that is stopped for longer than its lease. */
async function expire(workerId: WorkerId): Promise<void> {
  await superuser.run(`update webhook_worker set leased_until = now() - interval '1 second' where id = $1`, [workerId]);
}

const shares = (): number[] => members.map(({ working }) => working.size);

const database = await forFile(createServiceDatabase());
const databaseUrl = await database.urlFor('webhook_worker');
const superuser = await forFile(connect(database.databaseUrl));

beforeEach(async () => {
  await superuser.run('update webhook_shard set worker_id = null, recovering = false');
  await superuser.run('delete from webhook_worker');
  await superuser.run('truncate webhook_pending_delivery');
});

afterEach(async () => {
  for (const member of members) await member.close();
  members = [];
});

test('workers share the shards, and acquire those of a worker that stops', async () => {
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  await startMember();
  await eventually(() => expect(shares()).toEqual([32, 32]));
  await startMember();
  await eventually(() => expect(shares().toSorted((a, b) => a - b)).toEqual([21, 21, 22]));

  await first.workers.stop();
  await eventually(() => expect(shares()).toEqual([0, 32, 32]));
  expect(members.map(({ recovered, losses }) => [recovered.length, losses])).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
  expect(await superuser.run('select from webhook_worker')).toHaveLength(2);
});

test('shares that fit do not change', async () => {
  const [first, second] = [await startMember(), await startMember()];
  await eventually(() => expect(shares()).toEqual([32, 32]));
  const eventsBefore = first.events.length + second.events.length;
  const passesBefore = Math.max(first.passes, second.passes);
  await eventually(() => expect(Math.min(first.passes, second.passes)).toBeGreaterThan(passesBefore + 5));

  expect(first.events.length + second.events.length).toBe(eventsBefore);
  expect(shares()).toEqual([32, 32]);
});

test('no shard is worked on by two workers while they come and go', async () => {
  const shared = new Set<Shard>();
  const watch = setInterval(() => {
    for (const [index, member] of members.entries()) {
      for (const other of members.slice(index + 1)) {
        for (const shard of member.working.keys()) if (other.working.has(shard)) shared.add(shard);
      }
    }
  }, 1);
  try {
    await startMember();
    await startMember();
    const third = await startMember();
    await eventually(() => expect(shares().toSorted((a, b) => a - b)).toEqual([21, 21, 22]));
    await third.workers.leave();
    await eventually(() => expect(shares()).toEqual([32, 32, 0]));
  } finally {
    clearInterval(watch);
  }
  expect([...shared]).toEqual([]);
});

test('takes over from a worker whose lease has expired, which then registers again', async () => {
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  const deadId = first.workers.id;
  first.isStalled = true;

  const second = await startMember();
  // Repeated, because a renewal can have started before the worker stalled.
  await eventually(async () => {
    await expire(deadId);
    expect(second.events).toContainEqual({ kind: 'workers-declared-dead', workerIds: [deadId] });
  });
  first.isStalled = false;
  await eventually(() => expect(first.losses).toBe(1));
  await eventually(() => expect(shares()).toEqual([32, 32]));

  expect(first.workers.id).not.toBe(deadId);
  expect(first.events).toContainEqual({ kind: 'worker-lost', workerId: deadId });
  const freed = [...first.events, ...second.events].flatMap((event) =>
    event.kind === 'shards-freed' ? event.shards : [],
  );
  expect(freed.length).toBeGreaterThan(0);
  expect(new Set([...first.recovered, ...second.recovered])).toEqual(new Set(freed));
});

test('takes over within one lease after the clock of the database was set back', async () => {
  const first = await startMember(25, 1_000);
  await eventually(() => expect(shares()).toEqual([64]));
  const deadId = first.workers.id;
  first.isStalled = true;
  await superuser.run(`update webhook_worker set leased_until = leased_until + interval '1 hour' where id = $1`, [
    deadId,
  ]);
  const second = await startMember();
  await eventually(() => {
    expect(second.events).toContainEqual({ kind: 'workers-declared-dead', workerIds: [deadId] });
  });
});

test('does not take over from a worker that renews its lease', async () => {
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  const before = await superuser.run('select leased_until from webhook_worker');
  await eventually(async () => {
    expect(await superuser.run('select leased_until from webhook_worker')).not.toEqual(before);
  });
  expect(first.losses).toBe(0);
});

test('adopts shards of an acquisition without a response as recovering', async () => {
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  await first.workers.leave();
  await eventually(() => expect(shares()).toEqual([0]));
  const second = await startMember();
  await eventually(() => expect(shares()).toEqual([0, 64]));

  await superuser.run('update webhook_shard set worker_id = $1 where shard = 5', [first.workers.id]);

  // The worker is leaving, so it releases the shard again at once, and the other owner acquires it again.
  await eventually(() => {
    expect(first.events).toContainEqual({
      kind: 'shards-acquired',
      workerId: first.workers.id,
      shards: [{ shard: 5, isRecovering: true }],
    });
  });
  await eventually(() => expect(second.working.get(5)?.isRecovering).toBe(false));
  await eventually(() => expect(shares()).toEqual([0, 64]));
});

test('the next owner continues the unfinished recovery of a shard', async () => {
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  first.recovering.add(5);
  await first.workers.leave();
  const second = await startMember();
  await eventually(() => expect(shares()).toEqual([0, 64]));
  expect(second.recovered).toEqual([5]);
});

test('postpones deliveries in flight when it leaves', async () => {
  await seedPending(superuser, 2);
  const first = await startMember();
  await eventually(() => expect(shares()).toEqual([64]));
  first.inFlight = [pendingKey(2)];
  await first.workers.leave();

  const rows = await superuser.run(
    `select delivery_id from webhook_pending_delivery where due_at >= occurred_at + interval '7 seconds'`,
  );
  expect(rows).toEqual([{ delivery_id: '2' }]);
  expect(shares()).toEqual([0]);
});

test('retries a callback that failed', async () => {
  let failures = 3;
  const member = new Member();
  members.push(member);
  const set = member.working.set.bind(member.working);
  member.working.set = (...entry) => {
    failures -= 1;
    if (failures >= 0) throw new Error('not yet');
    return set(...entry);
  };
  await member.workers.start();
  await eventually(() => expect(shares()).toEqual([64]));
  expect(member.events.filter(({ kind }) => kind === 'sharing-failed')).toHaveLength(3);
});

test('workers share on a notification, without waiting for a renewal', async () => {
  const listeners: Listener[] = [];
  const startWoken = async (): Promise<Member> => {
    const member = await startMember(hourMs);
    const onWake = (payload: string | null): void => {
      if (payload === null || payload === workersChanged) member.workers.wake();
    };
    listeners.push(createListener({ databaseUrl, applicationName: 'test-listener', onWake, onError: () => {} }));
    return member;
  };
  try {
    await startWoken();
    const second = await startWoken();
    await eventually(() => expect(shares()).toEqual([32, 32]));
    await second.workers.stop();
    await eventually(() => expect(shares()).toEqual([64, 0]));
  } finally {
    for (const listener of listeners) await listener.close();
  }
});
