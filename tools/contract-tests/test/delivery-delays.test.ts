import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, describe, expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { newest } from './support/interface-contracts.ts';
import {
  insertAttempts,
  insertDelivery,
  insertPending,
  insertSubscription,
  type StoredDelivery,
  type StoredSubscription,
} from './support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const t = await startInterfaces(harness);

const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const message = expect.stringMatching(/^.{40,250}$/);

const startWorker = () =>
  harness.sql(
    `with worker as (
       insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id
     )
     update webhook_shard set worker_id = worker.id from worker`,
  );

describe.each(newest)('the $account interface', ({ account: name, date }) => {
  const { request } = createInterfaceClient(t, name, date);
  let subscription: StoredSubscription;
  let delivery: StoredDelivery;

  afterEach(() => harness.sql('update webhook_shard set worker_id = null'));

  async function subscribe(): Promise<void> {
    subscription = await insertSubscription(harness, name, harness.accounts[name]);
    delivery = await insertDelivery(harness, subscription);
  }

  const read = (fields: string) => request(`{ webhookDelivery(id: "${delivery.gid}") { ${fields} } }`);
  const readDelay = () => read('delay { reason since until message }');

  const holdReceiver = () =>
    harness.sql(
      `insert into webhook_receiver_state
         (subscription_id, url_number, consecutive_failures, breaker_probes, failing_since, last_failure_at, hold_until)
       values (${subscription.id}, 1, 12, 1, '2026-11-01T08:00Z', '2026-11-01T09:00Z', now() + interval '10 minutes')`,
    );

  test('a delivery that is finished has no delay', async () => {
    await subscribe();
    expect(await readDelay()).toEqual({ delay: null });
  });

  test('NO_WORKER while no live worker owns the shard of the account', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { dueInSeconds: -60 });
    const noWorker = { delay: { reason: 'NO_WORKER', since: isTime, until: null, message } };
    expect(await readDelay()).toEqual(noWorker);
    await startWorker();
    expect(await readDelay()).toMatchObject({ delay: { reason: 'WAITING_FOR_TURN' } });
    await harness.sql(`update webhook_worker set leased_until = now() - interval '1 second'`);
    expect(await readDelay()).toEqual(noWorker);
  });

  test('WAITING_FOR_TURN for a delivery that is due', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { dueInSeconds: -60 });
    await startWorker();
    expect(await readDelay()).toEqual({ delay: { reason: 'WAITING_FOR_TURN', since: isTime, until: null, message } });
  });

  test('RETRY_SCHEDULED since the last attempt, until the next one', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { attempts: 2, dueInSeconds: 600 });
    await insertAttempts(harness, subscription, delivery, [404, 503]);
    expect(await read('nextAttemptAt delay { reason since until message } attempts { number advice }')).toEqual({
      nextAttemptAt: isTime,
      delay: { reason: 'RETRY_SCHEDULED', since: '2026-11-02T09:30:01.000Z', until: isTime, message },
      attempts: [
        { number: 2, advice: expect.stringContaining('unavailable') },
        { number: 1, advice: expect.stringContaining('The path does not exist') },
      ],
    });
  });

  test('RETRY_AFTER and BREAKER_OPEN from what is stored about the callback URL', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { attempts: 1, dueInSeconds: 5 });
    await holdReceiver();
    expect(await readDelay()).toEqual({
      delay: { reason: 'RETRY_AFTER', since: '2026-11-01T09:00:00.000Z', until: isTime, message },
    });
    await harness.sql(
      `update webhook_receiver_state set breaker_open_until = now() + interval '20 minutes' where subscription_id = ${subscription.id}`,
    );
    expect(await readDelay()).toEqual({
      delay: { reason: 'BREAKER_OPEN', since: '2026-11-01T08:00:00.000Z', until: isTime, message },
    });
    await harness.sql(`update webhook_subscription set url_number = 2 where id = ${subscription.id}`);
    expect(await readDelay()).toMatchObject({ delay: { reason: 'RETRY_SCHEDULED' } });
  });

  test('PAUSED, whatever else holds', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { attempts: 1, dueInSeconds: 600 });
    await holdReceiver();
    await harness.sql(
      `update webhook_subscription set paused_reason = 'GONE', paused_at = '2026-11-03T10:00Z' where id = ${subscription.id}`,
    );
    expect(await readDelay()).toEqual({
      delay: {
        reason: 'PAUSED',
        since: '2026-11-03T10:00:00.000Z',
        until: null,
        message: expect.stringContaining('410 Gone'),
      },
    });
  });

  test('the operator gets the same reasons and advice', async () => {
    await subscribe();
    await insertPending(harness, subscription, delivery, { attempts: 1, dueInSeconds: 600 });
    await insertAttempts(harness, subscription, delivery, [404, 500, 500, 500]);
    const shown = await read('status delay { reason since until message } attempts { number responseStatus advice }');
    const env = { DATABASE_URL: await harness.database.urlFor('operator') };
    const json = await callOperator(env, 'delivery', 'why', delivery.gid, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject(Object(shown));
    const { stdout } = await callOperator(env, 'delivery', 'why', delivery.gid);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^PENDING: RETRY_SCHEDULED, since 2026-11-02T09:30:01\.000Z, until \S+Z$/),
      'Attempt 1 failed, and the next one is scheduled. It starts sooner once the receiver has worked again. The time between attempts grows from 5 seconds to 12 hours, plus up to 20 %.',
      '',
      'Attempts 2 to 4, from 2026-11-02T09:30:01.000Z to 2026-11-02T09:30:01.000Z: HTTP 500',
      'The receiver failed. See its log at the time of the attempt, and fix the error. Deedwire makes up to 15 attempts in about three days.',
      '',
      'Attempt 1 at 2026-11-02T09:30:01.000Z: HTTP 404',
      'The path does not exist. Deploy the receiver at this path, or correct the callback URL of the subscription.',
      '',
    ]);
  });
});
