import { alertTypes } from '@deedwire/core';
import { createStore, type Store } from '@deedwire/store';
import { connect, missing, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { type SubscriptionId, shardCount, shardOf } from '../../src/kernel/ids.ts';
import { raiseAlerts } from '../../src/subscriptions/raise-alerts.ts';
import { createWorkerStore } from '../dispatch-storage/support.ts';
import { createServiceDatabase, seedAccount, seedListener, seedSubscription, seedWorker } from '../support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const store = await forFile(createWorkerStore(await database.urlFor('webhook_worker')));
const account = await seedAccount(admin, 'supplier');
const allShards = new Set(Array.from({ length: shardCount }, (_, shard) => shard));
const pins = alertTypes.map((type) => ({ type, version: '2026-11-01' }));

let workerId: WorkerId;
let id: SubscriptionId;

const seed = () => admin.transaction((transaction) => seedSubscription(transaction, account, { pins }));

async function clear(): Promise<void> {
  await superuser.run('delete from webhook_event_queue');
  await superuser.run('delete from webhook_event');
  await superuser.run('delete from webhook_failed_delivery');
  await superuser.run('delete from webhook_failure_to_report');
  await superuser.run('update webhook_subscription set deleted_at = now() where deleted_at is null');
}

beforeEach(async () => {
  workerId = await seedWorker(admin);
  await clear();
  id = await seed();
});

const sweep = (shards: ReadonlySet<number> = allShards, signal = new AbortController().signal, using: Store = store) =>
  raiseAlerts(using, { workerId, shards, gidNamespace: 'service', signal });

/** Lets so many seconds pass, for all that alerts depend on. */
async function pass(seconds: number): Promise<void> {
  const earlier = (column: string) => `${column} = ${column} - ${seconds} * interval '1 second'`;
  await superuser.run(`update webhook_receiver_state set ${earlier('failing_since')}, ${earlier('last_failure_at')}`);
  await superuser.run(`update webhook_subscription_episode set ${earlier('since')}, ${earlier('episode')}`);
  await superuser.run(`update webhook_failure_to_report set ${earlier('failed_at')}`);
}

async function sweepAfter(seconds: number): Promise<void> {
  await pass(seconds);
  await sweep();
}

const fail = (subscription = id, failures = 3) =>
  superuser.run(
    `insert into webhook_receiver_state as r (subscription_id, url_number, consecutive_failures, breaker_probes, failing_since, last_failure_at)
     select id, url_number, $2, 0, now(), now() from webhook_subscription where id = $1
     on conflict (subscription_id) do update set url_number = excluded.url_number,
       consecutive_failures = excluded.consecutive_failures, failing_since = coalesce(r.failing_since, excluded.failing_since),
       last_failure_at = excluded.last_failure_at`,
    [subscription, failures],
  );

/** Begins an episode, unless one began within the hour. */
async function disrupt(): Promise<void> {
  await fail();
  await sweepAfter(300);
}

/** As settling does. */
const succeed = (subscription = id) =>
  superuser.run(
    'update webhook_receiver_state set consecutive_failures = 0, failing_since = null, last_failure_at = null where subscription_id = $1',
    [subscription],
  );

/** As the apps do: a pause by the worker also ends the state of the receiver. */
async function pause(reason: string, subscription = id): Promise<void> {
  await set(`paused_reason = '${reason}', paused_at = now()`, subscription);
  if (reason !== 'OWNER')
    await superuser.run('delete from webhook_receiver_state where subscription_id = $1', [subscription]);
}

const set = (assignments: string, subscription = id) =>
  superuser.run(`update webhook_subscription set ${assignments} where id = $1`, [subscription]);
const resume = (subscription = id) =>
  set('paused_reason = null, paused_at = null, url_number = url_number + 1', subscription);
const changeUrl = () => set('url_number = url_number + 1');
const remove = (subscription = id) => set('deleted_at = now()', subscription);

/** Each event, without the part that begins all of these types. */
async function events(): Promise<string[]> {
  const rows = await superuser.run(
    `select replace(event_type, 'webhook_subscription.', '') as type from webhook_event order by occurred_at, id`,
  );
  return rows.map(({ type }) => String(type));
}

const lastEvent = async () =>
  (
    await superuser.run(
      `select e.event_type, e.account_id::text, e.interface, e.about_subscription_id::text as about, e.record_id, e.is_test,
         e.snapshot, q.subscription_id as target
       from webhook_event e join webhook_event_queue q on q.event_id = e.id order by e.occurred_at desc, e.id desc limit 1`,
    )
  )[0];

const gid = (subscription = id) => `gid://service/WebhookSubscription/${subscription}`;
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('an episode', () => {
  test('begins after 5 minutes of nothing but failures, and is reported once', async () => {
    await set(`name = 'Orders'`);
    await fail(id, 17);
    await sweepAfter(299);
    expect(await events()).toEqual([]);
    await sweepAfter(1);
    await sweepAfter(3_600);
    expect(await events()).toEqual(['disrupted']);
    expect(await lastEvent()).toEqual({
      event_type: 'webhook_subscription.disrupted',
      account_id: account.id,
      interface: 'supplier',
      about: id,
      record_id: null,
      is_test: false,
      snapshot: { webhookSubscription: { id: gid(), name: 'Orders' }, failingSince: isTime, consecutiveFailures: 17 },
      target: null,
    });
  });

  test('notifies the worker of the account, once there is an alert', async () => {
    const notified: unknown[] = [];
    const watched: Store = {
      ...store,
      transaction: (work) =>
        store.transaction((transaction) =>
          work({ ...transaction, notifyAfterCommit: (payload) => void notified.push(payload) }),
        ),
    };
    await fail();
    await sweep(allShards, undefined, watched);
    await pass(300);
    expect(notified).toEqual([]);
    for (let sweeps = 0; sweeps < 2; sweeps += 1) await sweep(allShards, undefined, watched);
    expect(notified).toEqual([String(shardOf(account.id))]);
  });

  test('ends once nothing has failed for 5 minutes, which a failure starts anew', async () => {
    await disrupt();
    await succeed();
    await sweep();
    await sweepAfter(299);
    await fail();
    await sweep();
    await succeed();
    await sweep();
    await sweepAfter(299);
    expect(await events()).toEqual(['disrupted']);
    await sweepAfter(1);
    await sweep();
    expect(await events()).toEqual(['disrupted', 'recovered']);
    expect(await lastEvent()).toMatchObject({ snapshot: { webhookSubscription: { id: gid() }, disruptedAt: isTime } });
  });

  test('begins at most once an hour: an earlier disruption joins the open one, or begins one after the hour', async () => {
    await disrupt();
    await succeed();
    await sweep();
    await disrupt();
    expect(await events()).toEqual(['disrupted']);
    await succeed();
    await sweep();
    await sweepAfter(300);
    expect(await events()).toEqual(['disrupted', 'recovered']);
    await fail();
    await sweepAfter(2_999);
    expect(await events()).toEqual(['disrupted', 'recovered']);
    await sweepAfter(1);
    expect(await events()).toEqual(['disrupted', 'recovered', 'disrupted']);
  });

  test.each(['OWNER', 'FAILING'])('lasts through a pause with %s, and ends 5 minutes after it', async (reason) => {
    const told = reason === 'OWNER' ? ['disrupted'] : ['disrupted', 'paused'];
    await disrupt();
    await succeed();
    await sweep();
    await pause(reason);
    await sweep();
    await sweepAfter(86_400);
    await resume();
    await sweepAfter(299);
    expect(await events()).toEqual(told);
    await sweepAfter(1);
    expect(await events()).toEqual([...told, 'recovered']);
  });

  test('lasts if the subscription fails after a pause or with another URL, and another begins after the recovery', async () => {
    await disrupt();
    for (const end of [() => pause('GONE').then(() => sweep()), async () => {}]) {
      await end();
      await resume();
      await sweep();
      await fail();
      await sweepAfter(3_000);
    }
    expect(await events()).toEqual(['disrupted', 'paused']);
    await changeUrl();
    await sweep();
    await sweepAfter(300);
    expect(await events()).toEqual(['disrupted', 'paused', 'recovered']);
    await disrupt();
    expect(await events()).toEqual(['disrupted', 'paused', 'recovered', 'disrupted']);
  });

  test('begins because of a failure of the last hour only, and not because nothing has been sent since', async () => {
    await fail();
    await sweepAfter(3_600);
    expect(await events()).toEqual([]);
    await fail();
    await sweep();
    expect(await events()).toEqual(['disrupted']);
    await sweepAfter(86_400);
    await sweep();
    expect(await events()).toEqual(['disrupted']);
  });

  test('does not begin because of an earlier URL, a listener or a deleted subscription', async () => {
    await fail();
    await pass(600);
    await changeUrl();
    await sweep();
    const deleted = await seed();
    await fail(deleted);
    await pass(600);
    await remove(deleted);
    await sweep();
    expect(await events()).toEqual([]);
  });
});

test.each(['OPERATOR', 'GONE', 'FAILING', 'VERSION_RETIRED'])('reports each pause with %s once', async (reason) => {
  await pause(reason);
  await sweep();
  await sweep();
  expect(await events()).toEqual(['paused']);
  expect(await lastEvent()).toMatchObject({
    snapshot: { webhookSubscription: { id: gid() }, reason, pausedAt: isTime },
  });
  await resume();
  await sweep();
  await pause(reason);
  await sweep();
  expect(await events()).toEqual(['paused', 'paused']);
  // Without a sweep in between, the last one.
  await resume();
  await pause(reason);
  await resume();
  await pause(reason);
  await resume();
  await sweep();
  expect(await events()).toEqual(['paused', 'paused', 'paused']);
});

test('does not report a pause by the owner, or that of a listener', async () => {
  await pause('OWNER');
  const listener = await admin.transaction((transaction) => seedListener(transaction, account));
  await superuser.run(`update webhook_subscription set paused_reason = 'VERSION_RETIRED' where id = $1`, [listener]);
  await sweep();
  expect(await events()).toEqual([]);
});

/** They fail now. */
const failDeliveries = (from: number, count: number) =>
  superuser.run(
    `with failed as (
       insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
       select $1, n, 'supplier' from generate_series($2::int, $2 + $3 - 1) n
       on conflict do nothing
     )
     insert into webhook_failure_to_report (subscription_id, delivery_id)
     select $1, n from generate_series($2::int, $2 + $3 - 1) n`,
    [id, from, count],
  );

const toReport = () => superuser.run('select delivery_id from webhook_failure_to_report');

describe('failed deliveries', () => {
  test('are reported when a window of 5 minutes ends, with their number and the first 10 ids', async () => {
    await failDeliveries(101, 7);
    await pass(299);
    await failDeliveries(1, 5);
    await sweep();
    expect(await events()).toEqual([]);
    await pass(1);
    await failDeliveries(201, 1);
    await sweep();
    await sweep();
    expect(await events()).toEqual(['webhook_delivery.failed']);
    expect(await lastEvent()).toMatchObject({
      snapshot: {
        webhookSubscription: { id: gid() },
        since: isTime,
        failedCount: 12,
        webhookDeliveryIds: [1, 2, 3, 4, 5, 101, 102, 103, 104, 105].map((n) => `gid://service/WebhookDelivery/${n}`),
      },
    });
    await sweepAfter(300);
    expect(await lastEvent()).toMatchObject({
      snapshot: { failedCount: 1, webhookDeliveryIds: ['gid://service/WebhookDelivery/201'] },
    });
  });

  test('are reported 10,000 at a time', async () => {
    await failDeliveries(1, 10_001);
    await sweepAfter(300);
    expect(await lastEvent()).toMatchObject({ snapshot: { failedCount: 10_000 } });
    await sweep();
    expect(await lastEvent()).toMatchObject({ snapshot: { failedCount: 1 } });
  });

  test('are forgotten of a deleted subscription', async () => {
    await failDeliveries(1, 2);
    await pass(300);
    await remove();
    await sweep();
    expect([await events(), await toReport()]).toEqual([[], []]);
  });

  test('are not reported once they are queued again, and once if they have failed again', async () => {
    await failDeliveries(1, 2);
    await superuser.run('delete from webhook_failed_delivery');
    // Both failures of a delivery have a row, by their milliseconds.
    await pass(1);
    await failDeliveries(2, 1);
    await sweepAfter(300);
    expect(await lastEvent()).toMatchObject({
      snapshot: { failedCount: 1, webhookDeliveryIds: ['gid://service/WebhookDelivery/2'] },
    });
    await failDeliveries(1, 1);
    await superuser.run('delete from webhook_failed_delivery');
    await sweepAfter(300);
    expect([await events(), await toReport()]).toEqual([['webhook_delivery.failed'], []]);
  });
});

/** No alert about these subscriptions can be appended. */
async function refuse(ids: readonly SubscriptionId[], condition = 'raise_exception'): Promise<void> {
  await superuser.run(
    `create function refuse() returns trigger language plpgsql as $$
       begin raise 'refused' using errcode = '${condition}'; end $$;
     create trigger refuse before insert on webhook_event for each row
     when (new.about_subscription_id in (${ids.join(', ')})) execute function refuse()`,
  );
  onTestFinished(async () => void (await superuser.run('drop function refuse cascade')));
}

describe('a subscription about which no alert can be appended', () => {
  test.each(['raise_exception', 'query_canceled', 'lock_not_available'])(
    'delays no alert about others, and is retried: %s',
    async (condition) => {
      const others = await Promise.all(Array.from({ length: 50 }, seed));
      await refuse([id], condition);
      for (const each of [id, ...others]) await fail(each);
      await pass(300);
      await expect(sweep()).rejects.toMatchObject({
        message: 'No alert could be appended about 1 of 51 subscriptions; 0 were not tried.',
        errors: [{ message: `subscription ${id}` }],
      });
      expect(await events()).toEqual(Array(50).fill('disrupted'));
      await superuser.run('drop trigger refuse on webhook_event');
      await sweep();
      expect(await events()).toEqual(Array(51).fill('disrupted'));
    },
  );

  test('ends the sweep as the tenth, and alerts about others are appended by later ones', async () => {
    const others = await Promise.all(Array.from({ length: 50 }, seed));
    await refuse([id, ...others.slice(0, 19)]);
    for (const each of [id, ...others]) await fail(each);
    await pass(300);
    let sweeps = 0;
    for (; (await events()).length < 31 && sweeps < 200; sweeps += 1) {
      const error = await sweep().then(missing, (thrown: AggregateError) => thrown);
      expect(error.errors).toHaveLength(10);
      expect(error.message).toMatch(
        /^No alert could be appended about 10 of \d\d subscriptions; \d\d were not tried\.$/,
      );
    }
    expect(sweeps).toBeLessThan(200);
  });

  test('is one that another transaction changes: others do not wait for it', async () => {
    const other = await seed();
    for (const each of [id, other]) await fail(each);
    await pass(300);
    const locking = await connect(database.databaseUrl);
    onTestFinished(() => locking.close());
    await locking.run('begin');
    await locking.run('select from webhook_subscription where id = $1 for no key update', [id]);
    await sweep();
    expect(await events()).toEqual(['disrupted']);
    expect(await lastEvent()).toMatchObject({ about: other });
    await locking.run('rollback');
    await sweep();
    expect(await lastEvent()).toMatchObject({ about: id });
  });
});

/** After a sweep, the next one has nothing to do. */
test.each<[string, () => Promise<unknown>]>([
  ['an earlier URL', changeUrl],
  ['a pause by the owner', () => pause('OWNER')],
  ['the deletion', () => remove()],
  [
    'an episode within the hour',
    () =>
      superuser.run(
        `insert into webhook_subscription_episode (subscription_id, episode) values ($1, now() - interval '59 minutes')`,
        [id],
      ),
  ],
  ['a reported episode', () => sweep()],
  [
    'a recovery that has not lasted',
    async () => {
      await sweep();
      await succeed();
      await sweep();
      await pass(299);
    },
  ],
  [
    'a reported pause during an episode',
    async () => {
      await sweep();
      await pause('FAILING');
      await sweep();
    },
  ],
  ['no failure for an hour', () => pass(3_600)],
])('nothing is written because of failures with %s', async (_, end) => {
  await fail();
  await pass(300);
  await end();
  const transactions = vi.spyOn(store, 'transaction');
  onTestFinished(() => transactions.mockRestore());
  await sweep();
  expect(transactions).not.toHaveBeenCalled();
});

test('appends no more once it is asked to end', async () => {
  await fail();
  await pass(300);
  await sweep(allShards, AbortSignal.abort());
  expect(await events()).toEqual([]);
  await sweep();
  expect(await events()).toEqual(['disrupted']);
});

test('appends an alert once, when workers sweep at the same time and one of them is killed', async () => {
  const others = await Promise.all(Array.from({ length: 30 }, seed));
  // Otherwise the insert of the first one makes the others wait.
  await superuser.run(
    'insert into webhook_subscription_episode (subscription_id) select id from webhook_subscription on conflict do nothing',
  );
  for (const each of [id, ...others]) await fail(each);
  await pass(300);
  const killed = await connect(database.databaseUrl);
  await killed.run('begin');
  await killed.run(`select webhook_raise_alerts($1, 'service')`, [id]);
  const sweeps = Array.from({ length: 6 }, () => sweep());
  const [{ pid } = {}] = await killed.run('select pg_backend_pid() as pid');
  await untilBlocked(superuser, sweeps.length);
  await superuser.run('select pg_terminate_backend($1)', [pid]);
  await Promise.all(sweeps);
  await killed.close().catch(() => {});
  expect(await events()).toEqual(Array(31).fill('disrupted'));
});

test('writes nothing for a worker that was declared dead, or for the shards of others', async () => {
  await fail();
  await pass(300);
  const own = Number(BigInt(account.id) & 63n);
  await sweep(new Set([...allShards].filter((shard) => shard !== own)));
  await superuser.run('update webhook_worker set alive = false');
  await expect(sweep()).rejects.toThrow(FencedOutError);
  expect(await events()).toEqual([]);
});

test('the worker cannot change what alerts have reported, or name another namespace than one of global identifiers', async () => {
  const worker = await connect(await database.urlFor('webhook_worker'));
  await expect(worker.run(`update webhook_subscription_episode set state = 'DISRUPTED'`)).rejects.toThrow(
    'permission denied',
  );
  await expect(
    worker.run(
      `select webhook_append_alert(s, 'webhook_subscription.paused', '{}', 'service') from webhook_subscription s`,
    ),
  ).rejects.toThrow('permission denied');
  for (const namespace of [`'a/b'`, 'null'])
    await expect(worker.run(`select webhook_raise_alerts(1, ${namespace})`)).rejects.toThrow('not one of global');
  await worker.close();
});

/** What happens to a subscription that is not paused, or the end of its pause. */
async function change(each: SubscriptionId, kind: string): Promise<void> {
  const [row] = await superuser.run('select paused_reason as reason from webhook_subscription where id = $1', [each]);
  const isPaused = row?.['reason'] !== null;
  if (kind === 'resume' && isPaused) await resume(each);
  if (isPaused) return;
  if (kind === 'fail') await fail(each);
  if (kind === 'succeed') await succeed(each);
  if (kind === 'pause') await pause('FAILING', each);
}

const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('fail', 'succeed', 'pause', 'resume'), of: fc.nat(2) }),
  fc.record({ kind: fc.constant('pass'), seconds: fc.constantFrom(150, 300, 1_800, 3_600) }),
  fc.constant({ kind: 'sweep' }),
);

const ofEpisodes = (types: readonly { type: string; at: number }[]) => types.filter(({ type }) => type !== 'paused');

test('each episode has one disrupted and one recovered, at most one episode an hour begins, and alerts end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await clear();
      const subscriptions = [await seed(), await seed(), await seed()];
      let now = 0;
      const seen = new Map(subscriptions.map((each) => [each, [] as { type: string; at: number }[]]));
      let known = 0;
      const episodes = () =>
        superuser.run('select * from webhook_subscription_episode where subscription_id = any($1)', [subscriptions]);
      const sweepNow = async () => {
        await sweep();
        const rows = await superuser.run(
          `select event_type as type, about_subscription_id::text as about from webhook_event order by occurred_at, id offset $1`,
          [known],
        );
        known += rows.length;
        for (const { type, about } of rows)
          seen.get(about as SubscriptionId)?.push({ type: String(type).split('.')[1] ?? '', at: now });
        // It has found all about which there is something to do.
        const stored = await episodes();
        for (const each of subscriptions)
          expect(await superuser.run(`select webhook_raise_alerts($1, 'service') as alerts`, [each])).toEqual([
            { alerts: 0 },
          ]);
        expect(await episodes()).toEqual(expect.arrayContaining(stored));
      };
      const passNow = async (seconds: number) => {
        await pass(seconds);
        now += seconds;
      };
      for (const next of steps) {
        if ('seconds' in next) await passNow(next.seconds);
        else if ('of' in next) await change(subscriptions[next.of] ?? id, next.kind);
        else await sweepNow();
      }
      // From here on all of them fail, as the alerts that they get do.
      for (const each of subscriptions) await change(each, 'resume');
      let before = 0;
      for (let sweeps = 0; sweeps < 6; sweeps += 1) {
        for (const each of subscriptions) await fail(each);
        await passNow(1_800);
        await sweepNow();
        if (sweeps === 2) before = known;
      }
      expect(known).toBe(before);
      for (const all of seen.values()) expect(ofEpisodes(all).at(-1)?.type).toBe('disrupted');
      for (const each of subscriptions) await succeed(each);
      await sweepNow();
      await passNow(300);
      await sweepNow();
      for (const all of seen.values()) {
        const types = ofEpisodes(all).map(({ type }) => type);
        expect(types).toEqual(types.map((_, index) => (index % 2 === 0 ? 'disrupted' : 'recovered')));
        expect(types.at(-1)).toBe('recovered');
        const begun = all.filter(({ type }) => type === 'disrupted').map(({ at }) => at);
        for (const [index, at] of begun.slice(1).entries())
          expect(at - (begun[index] ?? 0)).toBeGreaterThanOrEqual(3_600);
      }
    }),
    { numRuns: Number(process.env['RUNS'] ?? 15) },
  );
});
