import {
  createWebhookListener,
  listWebhookListeners,
  pauseWebhookSubscription,
  sendTestWebhookEvent,
} from '@deedwire/actions';
import { alertTypes, eventOf, snapshotSchema } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { callOperator, type Harness } from '@deedwire/dev-environment/harness';
import { eventually, missing, type Receiver, startReceiver } from '@deedwire/testing';
import { parseWebhookBody } from '@deedwire/webhook-contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished } from 'vitest';
import { test } from '../../webhook-worker/fixtures.ts';

async function startFailingReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.onDelivery = (response) => void response.writeHead(500).end();
  onTestFinished(() => receiver.close());
  return receiver;
}

const numberOf = (gid: string) => gid.slice(gid.lastIndexOf('/') + 1);

interface Alert {
  type: string;
  about: string;
  data: Record<string, unknown>;
}

/** The alerts that a receiver got, each valid, in the order of their types. */
function alertsOf(receiver: Receiver): Alert[] {
  return receiver.deliveries
    .map(({ body }) => {
      const parsed = parseWebhookBody(body.toString());
      if (parsed.kind !== 'event' || !('webhookSubscription' in parsed.event.data)) throw new Error(body.toString());
      const { webhookSubscription, ...data } = parsed.event.data;
      return { type: parsed.event.type, about: webhookSubscription.id, data };
    })
    .toSorted((one, other) => one.type.localeCompare(other.type));
}

const change = (harness: Harness, set: string, id: string) =>
  harness.sql(`update ${set} where subscription_id = ${numberOf(id)}`);

test('the other subscriptions and the listeners of an account hear of one that fails, and of one that recovers', async ({
  harness,
  receiver,
}) => {
  const failing = await startFailingReceiver();
  const paused = await startFailingReceiver();
  const types = [...alertTypes, 'order.placed'];
  await harness.subscribe(receiver.url, [...alertTypes]);
  const subject = await harness.subscribe(failing.url, types);
  const byOperator = await harness.subscribe(paused.url, ['order.placed']);
  const { customerApi, accounts, operator } = harness;
  const eventTypes = alertTypes.map((type) => ({ type }));
  await createWebhookListener(customerApi, accounts.customer, { eventTypes });
  await pauseWebhookSubscription(operator, operator.operator, { id: byOperator.id });
  await harness.startWorker();
  await harness.place(2);
  await sendTestWebhookEvent(customerApi, accounts.customer, {
    subscriptionId: subject.id,
    eventType: 'webhook_subscription.paused',
  });
  await failing.waitFor(3);
  // The next attempt of each delivery is the last one.
  await eventually(async () => {
    const set = 'webhook_pending_delivery set attempts = 14, due_at = now()';
    await change(harness, set, subject.id);
    const rows = await harness.sql(
      `select event_type from webhook_failed_delivery f join webhook_delivery d on d.id = f.delivery_id order by event_type`,
    );
    expect(rows).toHaveLength(3);
  });
  const failed = await harness.sql(
    'select event_type as type from webhook_failure_to_report r join webhook_delivery d on d.id = r.delivery_id',
  );
  // That of an alert is never reported.
  expect(failed).toEqual([{ type: 'order.placed' }, { type: 'order.placed' }]);
  await change(harness, `webhook_failure_to_report set failed_at = failed_at - interval '5 minutes'`, subject.id);
  await change(harness, `webhook_receiver_state set failing_since = failing_since - interval '5 minutes'`, subject.id);

  await receiver.waitFor(3);
  expect(alertsOf(receiver)).toEqual([
    {
      type: 'webhook_delivery.failed',
      about: subject.id,
      data: expect.objectContaining({ failedCount: 2, webhookDeliveryIds: [expect.any(String), expect.any(String)] }),
    },
    { type: 'webhook_subscription.disrupted', about: subject.id, data: expect.any(Object) },
    {
      type: 'webhook_subscription.paused',
      about: byOperator.id,
      data: { reason: 'OPERATOR', pausedAt: expect.any(String) },
    },
  ]);
  const env = { DATABASE_URL: await harness.database.urlFor('operator') };
  const listed = await callOperator(env, 'subscription', 'list', '--status', 'DISRUPTED');
  expect(listed.stdout).toContain(subject.id);
  expect(listed.stdout).toContain(accounts.customer.id);
  expect(listed.stdout).not.toContain(byOperator.id);

  // Its deliveries of alerts are about the other subscription only.
  await eventually(async () =>
    expect(
      await harness.sql(
        `select event_type as type from webhook_delivery where not is_test and event_type like 'webhook%'
           and subscription_id = ${numberOf(subject.id)}`,
      ),
    ).toEqual([{ type: 'webhook_subscription.paused' }]),
  );
  failing.onDelivery = (response) => void response.writeHead(200).end();
  await harness.sql('update webhook_pending_delivery set due_at = now()');
  await eventually(async () =>
    expect(await harness.sql(`select consecutive_failures as failures from webhook_receiver_state`)).toEqual([
      { failures: 0 },
    ]),
  );
  await eventually(async () =>
    expect(
      await harness.sql(
        `update webhook_subscription_episode set since = since - interval '5 minutes'
         where subscription_id = ${numberOf(subject.id)} and state = 'RECOVERING' returning state`,
      ),
    ).toHaveLength(1),
  );
  await receiver.waitFor(4);
  expect(alertsOf(receiver)).toContainEqual({
    type: 'webhook_subscription.recovered',
    about: subject.id,
    data: { disruptedAt: expect.any(String) },
  });
  // Functions of the database write these, so no compiler compares them with the schema that a build publishes.
  const stored = await harness.sql(`select event_type as type, snapshot from webhook_event where not is_test`);
  for (const { type, snapshot } of stored.filter((event) => String(event['type']).startsWith('webhook'))) {
    const validate = new Ajv2020().compile(snapshotSchema(eventOf(testService, String(type)) ?? missing()));
    expect({ type, isValid: validate(snapshot), errors: validate.errors }).toEqual({
      type,
      isValid: true,
      errors: null,
    });
  }

  await eventually(async () =>
    expect(await listWebhookListeners(customerApi, accounts.customer)).toMatchObject([{ lastSequence: 4 }]),
  );
});
