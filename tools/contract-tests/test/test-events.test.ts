import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { joinSharedSystem, otherKey, type SharedSystem } from '@deedwire/dev-environment/harness';
import type { InterfaceName } from '@deedwire/domain';
import { eventually, listen, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { type WebhookEvent, webhookEventTypes } from '@deedwire/webhook-events';
import { createWebhookReceiver, type HandlerContext } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { served } from './support/interface-contracts.ts';

const t = await forFile(joinSharedSystem());

beforeEach(() => t.forgetHandshakes());

interface Delivery {
  id: string;
  status: string;
  isTest: boolean;
  sequenceNumber: number;
  event: { id: string; type: string; version: string };
  delay: { reason: string } | null;
  attempts: { responseStatus: number | null }[];
}

/** The requests of one account to one version of its interface. */
function clientOf(account: keyof SharedSystem['accounts'], date: string) {
  const { name, request, mutate } = createInterfaceClient(t, account, date);
  return {
    name,
    send: (input: object) => mutate<{ webhookEventId: string | null }>('sendTestWebhookEvent', 'webhookEventId', input),
    pause: (id: string) => mutate('pauseWebhookSubscription', 'webhookSubscription { status }', { id }),
    resume: (id: string) => mutate('resumeWebhookSubscription', 'webhookSubscription { status }', { id }),
    async subscribe(input: object): Promise<string> {
      const { webhookSubscription, userErrors } = await mutate<{ webhookSubscription: { id: string } | null }>(
        'createWebhookSubscription',
        'webhookSubscription { id }',
        input,
      );
      if (webhookSubscription === null) throw new Error(JSON.stringify(userErrors));
      onTestFinished(async () => {
        await mutate('deleteWebhookSubscription', 'deletedWebhookSubscriptionId', { id: webhookSubscription.id });
      });
      return webhookSubscription.id;
    },
    async deliveries(subscriptionId: string): Promise<Delivery[]> {
      const query = `query ($subscriptionId: ID!) {
        webhookDeliveries(subscriptionId: $subscriptionId) {
          nodes { id status isTest sequenceNumber event { id type version } delay { reason } attempts { responseStatus } }
        }
      }`;
      const { nodes } = await request<{ nodes: Delivery[] }>(query, { subscriptionId });
      return nodes;
    },
  };
}

interface Handled {
  event: WebhookEvent;
  context: Pick<HandlerContext<undefined>, 'id' | 'meta'>;
}

/** A receiver of the kit that handles every event. The first `failures` calls of a handler fail. */
async function startReceiver({ failures = 0 } = {}) {
  const webhookSecret = generateWebhookSecret();
  const handled: Handled[] = [];
  let calls = 0;
  const handler = (event: WebhookEvent, { id, meta }: HandlerContext<undefined>): void => {
    calls += 1;
    if (calls <= failures) throw new Error('The receiver is not ready.');
    handled.push({ event, context: { id, meta } });
  };
  const on = Object.fromEntries(
    webhookEventTypes.map(({ type, versions }) => [
      type,
      Object.fromEntries(
        versions.filter(({ status }) => status !== 'retired').map(({ version }) => [version, handler]),
      ),
    ]),
  );
  const receiver = createWebhookReceiver({
    secrets: [webhookSecret],
    store: memoryStore(),
    on,
    log: { warn: () => {}, error: () => {} },
  });
  const server = await listen(createServer(nodeHandler(receiver)));
  onTestFinished(async () => {
    await receiver.close();
    await server.close();
  });
  return {
    input: { callbackUrl: `http://127.0.0.1:${server.port}/webhooks`, webhookSecret },
    handled,
    /** Waits for this many calls that succeed. */
    waitFor: (count: number) =>
      eventually(() => {
        if (handled.length < count) throw new Error(`${handled.length} of ${count} events were handled.`);
        return handled;
      }, 60_000),
  };
}

function typicalData(type: string, version: string): unknown {
  const file = `../../../packages/webhook-events/fixtures/${type}/${version}/accept/typical.json`;
  const { data } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  return data;
}

/** Each event type of an interface, at each version that a subscription can pin. */
const pinsOf = (name: InterfaceName) =>
  webhookEventTypes.flatMap(({ type, interfaces, versions }) =>
    interfaces.includes(name)
      ? versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [{ type, version }]))
      : [],
  );

describe.each(served)('$account $date', ({ account, date }) => {
  test('a test event of each type arrives once, at the pinned version, at this subscription only', async () => {
    const client = clientOf(account, date);
    const other = await startReceiver();
    for (const pin of pinsOf(client.name)) {
      const receiver = await startReceiver();
      const subscriptionId = await client.subscribe({ ...receiver.input, eventTypes: [pin] });
      const otherId = await client.subscribe({ ...other.input, eventTypes: [pin] });
      const { webhookEventId, userErrors } = await client.send({ subscriptionId, eventType: pin.type });
      expect(userErrors).toEqual([]);

      const [{ event, context } = missing()] = await receiver.waitFor(1);
      expect(event).toEqual({
        ...pin,
        id: webhookEventId,
        timestamp: expect.any(String),
        data: typicalData(pin.type, pin.version),
      });
      expect(context.meta.unsigned).toEqual({ subscriptionId, sequence: 1, attempt: 1, isTest: true, isReplay: false });
      const [delivery = missing()] = await eventually(async () => {
        const found = await client.deliveries(subscriptionId);
        expect(found).toMatchObject([{ status: 'DELIVERED' }]);
        return found;
      });
      expect(delivery).toEqual({
        id: context.id,
        status: 'DELIVERED',
        isTest: true,
        sequenceNumber: 1,
        event: { id: webhookEventId, ...pin },
        delay: null,
        attempts: [{ responseStatus: 200 }],
      });
      expect(await client.deliveries(otherId)).toEqual([]);
    }
    expect(other.handled).toEqual([]);
  });

  test('a repeated request with the same idempotency key sends one event', async () => {
    const client = clientOf(account, date);
    const receiver = await startReceiver();
    const eventTypes = [{ type: 'webhook.test' }];
    const subscriptionId = await client.subscribe({ ...receiver.input, eventTypes });
    const input = { subscriptionId, idempotencyKey: `test ${date}` };
    const results = await Promise.all([client.send(input), client.send(input), client.send(input)]);
    const ids = new Set(results.flatMap(({ webhookEventId }) => webhookEventId ?? []));
    expect(ids.size).toBe(1);
    expect(results.flatMap(({ userErrors }) => userErrors.map(({ code }) => code))).not.toContain('NOT_FOUND');
    // A later one would arrive after the next event, which has another key.
    const { webhookEventId: next } = await client.send({ subscriptionId });
    const handled = await receiver.waitFor(2);
    expect(handled.map(({ event }) => event.id)).toEqual([...ids, next]);
  });

  test('no other account, of either interface, can send to a subscription', async () => {
    const client = clientOf(account, date);
    const receiver = await startReceiver();
    const subscriptionId = await client.subscribe({ ...receiver.input, eventTypes: [{ type: 'webhook.test' }] });
    const others = served.flatMap((version) => [
      clientOf(otherKey(version.account), version.date),
      ...(version.account === account ? [] : [clientOf(version.account, version.date)]),
    ]);
    for (const stranger of others) {
      const { webhookEventId, userErrors } = await stranger.send({ subscriptionId });
      expect({ webhookEventId, userErrors }).toMatchObject({
        webhookEventId: null,
        userErrors: [{ code: 'NOT_FOUND', field: ['input', 'subscriptionId'] }],
      });
    }
    await client.send({ subscriptionId });
    expect(await receiver.waitFor(1)).toHaveLength(1);
    expect(await client.deliveries(subscriptionId)).toHaveLength(1);
  });
});

test('a test event waits while the subscription is paused, and its retry is still a test', async () => {
  const client = clientOf('partner', '2026-11-01');
  const receiver = await startReceiver({ failures: 1 });
  const subscriptionId = await client.subscribe({ ...receiver.input, eventTypes: [{ type: 'webhook.test' }] });
  await client.pause(subscriptionId);
  const { webhookEventId } = await client.send({ subscriptionId });
  await eventually(async () =>
    expect(await client.deliveries(subscriptionId)).toMatchObject([
      { status: 'PENDING', isTest: true, delay: { reason: 'PAUSED' }, attempts: [] },
    ]),
  );
  expect(receiver.handled).toEqual([]);
  await client.resume(subscriptionId);
  const [{ event, context } = missing()] = await receiver.waitFor(1);
  expect(event.id).toBe(webhookEventId);
  expect(context.meta.unsigned).toMatchObject({ attempt: 2, isTest: true });
});

test('an event that reports a change is no test', async () => {
  const client = clientOf('partner', '2026-11-01');
  const receiver = await startReceiver();
  const subscriptionId = await client.subscribe({ ...receiver.input, eventTypes: [{ type: 'referral.created' }] });
  const { credential } = t.accounts.partner;
  await postGraphql(t.urls.partner, credential, {
    query: 'mutation { createReferral(input: { clientName: "Ada" }) { referral { id } } }',
  });
  const [{ context } = missing()] = await receiver.waitFor(1);
  expect(context.meta.unsigned.isTest).toBe(false);
  expect(await client.deliveries(subscriptionId)).toMatchObject([{ isTest: false }]);
});
