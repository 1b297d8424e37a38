import { createHarness, placeOrders } from '@deedwire/dev-environment/harness';
import { createClient, eventually, missing, type ReceivedRequest, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { parse } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { documents } from '../support/did-not-arrive-page.ts';
import { parseWebhookBody } from '../support/order-events.ts';
import { subscribe } from '../support/subscribe.ts';
import { startVirtualClock } from '../support/virtual-clock.ts';

// What the owner of a receiver hears, sees and does when it fails for a day, in the order of docs/webhook-did-not-arrive.md. By GraphQL
// over HTTP and requests to receivers alone: only the clock is set in the database. Each step of it is a restart of the worker.

const hourMs = 3_600_000;
const afterMs = (time: Date, ms: number): Date => new Date(time.getTime() + ms);

const harness = await forFile(createHarness());
const clock = await startVirtualClock(harness);
const api = await harness.startApi('customer');
await api.whenReady;
const customer = createClient(`${api.url}/customer/graphql`, harness.accounts.customer.credential);

const ask = <Data extends object>(text: string, variables: object = {}): Promise<Data> =>
  customer.request<Data, object>(parse(text), variables);
const askPage = <Data extends object>(name: string, variables: object = {}): Promise<Data> =>
  ask(documents[name] ?? missing(), variables);

interface Arrival {
  deliveryId: string | null;
  /** An error if the request is not authentic or not valid. */
  type: string;
  data: Record<string, unknown>;
  timestamp: string;
  status: number;
  /** The requests that the receiver works on, this one included. */
  inFlight: number;
}

interface Subject {
  id: string;
  /** What it responds from now on to requests that are authentic and valid, and 401 to others. */
  status: number;
  arrivals: Arrival[];
  /** The orders whose event it has accepted, in order of arrival. */
  placed(): string[];
}

/** Subscribes a receiver that verifies what it gets, and works on it for a moment. */
async function startSubject(name: string, types: readonly string[]): Promise<Subject> {
  const webhookSecret = generateWebhookSecret();
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const input = { callbackUrl: receiver.url, eventTypes: types.map((type) => ({ type })), name, webhookSecret };
  const arrivals: Arrival[] = [];
  let inFlight = 0;
  const subject: Subject = {
    id: '',
    status: 204,
    arrivals,
    placed: () =>
      arrivals
        .filter(({ status, type }) => status === 204 && type === 'order.placed')
        .map(({ data }) => String(data['orderId'])),
  };
  function read({ headers, body }: ReceivedRequest): Pick<Arrival, 'deliveryId' | 'type' | 'timestamp' | 'data'> {
    const { id } = verifyWebhook({ prefix: 'X-Service', headers, body, secret: webhookSecret, now: clock.now() });
    const parsed = parseWebhookBody(body.toString());
    if (parsed.kind !== 'event') throw new Error(body.toString());
    const { type, timestamp, data } = parsed.event;
    return { deliveryId: id, type, timestamp, data };
  }
  receiver.onDelivery = (response, request) => {
    inFlight += 1;
    let { status } = subject;
    try {
      arrivals.push({ ...read(request), status, inFlight });
    } catch (error) {
      status = 401;
      arrivals.push({ deliveryId: null, type: String(error), timestamp: '', data: {}, status, inFlight });
    }
    setTimeout(() => {
      inFlight -= 1;
      response.writeHead(status).end();
    }, 20);
  };
  const { id } = await subscribe(customer, input);
  return Object.assign(subject, { id });
}

const place = (count: number): Promise<string[]> => placeOrders(customer, count);

/** Runs a worker, and stops it once the check passes. What it has sent is recorded then. */
async function work<Result>(until: () => Promise<Result> | Result, withinMs?: number): Promise<Result> {
  const worker = await harness.startWorker();
  try {
    return await eventually(until, withinMs);
  } finally {
    await harness.stopWorker(worker);
  }
}

const untilArrived = ({ arrivals }: Subject, count: number) =>
  work(() => expect(arrivals.length).toBeGreaterThanOrEqual(count));

/** The data of an alert that says which subscription it is about. */
const about = ({ id }: Subject, name: string) => ({ webhookSubscription: { id, name } });

interface Health {
  state: string;
  consecutiveFailures: number;
  failingSince: string | null;
  breakerOpenUntil: string | null;
  pendingCount: number;
  oldestPendingAt: string | null;
}

async function healthOf({ id }: Subject): Promise<Health> {
  type Page = { webhookSubscriptions: { nodes: { id: string; health: Health }[] } };
  const { webhookSubscriptions } = await askPage<Page>('Health');
  return webhookSubscriptions.nodes.find((each) => each.id === id)?.health ?? missing();
}

interface Hour {
  deliveredCount: number;
  failedAttemptCount: number;
  failedCount: number;
  longestWaitSeconds: number | null;
}

/** The hours of three days in which something happened, oldest first. */
async function hoursOf({ id }: Subject): Promise<Hour[]> {
  const counts = 'deliveredCount failedAttemptCount failedCount longestWaitSeconds';
  const { webhookSubscription } = await ask<{ webhookSubscription: { statistics: Hour[] } }>(
    `query ($id: ID!) { webhookSubscription(id: $id) { statistics(hours: 72) { ${counts} } } }`,
    { id },
  );
  return webhookSubscription.statistics.filter((hour) => hour.deliveredCount + hour.failedAttemptCount > 0);
}

const sum = (hours: readonly Hour[], count: 'deliveredCount' | 'failedAttemptCount' | 'failedCount'): number =>
  hours.reduce((total, hour) => total + hour[count], 0);

/** When the next attempt of each delivery that waits is scheduled. */
async function scheduleOf({ id }: Subject): Promise<Date[]> {
  type Page = { webhookDeliveries: { nodes: { nextAttemptAt: string }[] } };
  const { webhookDeliveries } = await ask<Page>(
    `query ($id: ID!) { webhookDeliveries(first: 100, subscriptionId: $id, status: PENDING) { nodes { nextAttemptAt } } }`,
    { id },
  );
  return webhookDeliveries.nodes.map(({ nextAttemptAt }) => new Date(nextAttemptAt));
}

/** Repeats the attempts of a receiver that fails, each at its time. */
async function failUntil(subject: Subject, end: Date): Promise<void> {
  for (;;) {
    const { breakerOpenUntil } = await healthOf(subject);
    const times = (await scheduleOf(subject)).map((time) => time.getTime());
    const next = new Date(Math.max(Math.min(...times), Date.parse(breakerOpenUntil ?? '1970-01-01')));
    if (next >= end) break;
    await clock.advanceTo(next);
    await untilArrived(subject, subject.arrivals.length + 1);
  }
  await clock.advanceTo(end);
}

test('an outage of a day: hear, see, find, repair, hear', async () => {
  const alertTypes = [
    'webhook_subscription.disrupted',
    'webhook_subscription.recovered',
    'webhook_subscription.paused',
  ];
  const alerts = await startSubject('Alerts', [...alertTypes, 'webhook_delivery.failed']);
  const orders = await startSubject('Orders', ['order.placed', ...alertTypes]);
  const crm = await startSubject('CRM', ['order.placed']);

  const [beforeId = missing()] = await place(1);
  await untilArrived(orders, 1);
  expect(await healthOf(orders)).toMatchObject({ state: 'HEALTHY', consecutiveFailures: 0, pendingCount: 0 });

  // It fails, and another receiver hears of it.
  const downAt = clock.now();
  orders.status = 503;
  const [firstId = missing(), ...early] = await place(3);
  await untilArrived(orders, 4);
  await failUntil(orders, afterMs(downAt, hourMs / 10));
  await work(() => expect(alerts.arrivals).toHaveLength(1));
  const { failingSince } = await healthOf(orders);
  const [disrupted = missing()] = alerts.arrivals;
  expect(disrupted).toMatchObject({
    type: 'webhook_subscription.disrupted',
    data: { ...about(orders, 'Orders'), failingSince, consecutiveFailures: expect.any(Number) },
  });
  expect(disrupted.data['consecutiveFailures']).toBeGreaterThan(0);
  expect(disrupted.data['consecutiveFailures']).toBeLessThan(orders.arrivals.length);

  // Health and statistics show it, with each attempt.
  await failUntil(orders, afterMs(downAt, 23 * hourMs));
  const late = await place(20);
  await work(async () => expect(await healthOf(orders)).toMatchObject({ pendingCount: 23 }));
  const restoredAt = afterMs(downAt, 24 * hourMs);
  await clock.advanceTo(restoredAt);
  const failures = orders.arrivals.length - 1;
  const health = await healthOf(orders);
  expect(health).toMatchObject({ state: 'FAILING', breakerOpenUntil: expect.any(String), pendingCount: 23 });
  // An attempt that was in flight can have failed before the first one that was counted.
  expect(Date.parse(health.failingSince ?? '')).toBeLessThanOrEqual(Date.parse(failingSince ?? ''));
  expect(Date.parse(health.failingSince ?? '')).toBeGreaterThan(downAt.getTime());
  // One in flight when the worker stops is not counted here, but in the statistics.
  expect(health.consecutiveFailures).toBeGreaterThanOrEqual(10);
  expect(health.consecutiveFailures).toBeLessThanOrEqual(failures);
  expect(Date.parse(health.oldestPendingAt ?? '')).toBeLessThan(Date.parse(failingSince ?? ''));
  const hours = await hoursOf(orders);
  expect(hours.length).toBeGreaterThan(4);
  expect(sum(hours, 'failedAttemptCount')).toBe(failures);
  expect(sum(hours, 'deliveredCount')).toBe(1);
  expect(sum(hours, 'failedCount')).toBe(0);

  // The owner finds the delivery of an order, and what is wrong with it.
  type Found = { webhookDeliveries: { nodes: { id: string; subscriptionId: string; status: string }[] } };
  const findFirst = async () =>
    (await askPage<Found>('FindDeliveriesById', { recordId: firstId })).webhookDeliveries.nodes;
  const found = await findFirst();
  expect(found).toHaveLength(2);
  expect(found).toContainEqual(expect.objectContaining({ subscriptionId: crm.id, status: 'DELIVERED' }));
  const id = found.find(({ subscriptionId }) => subscriptionId === orders.id)?.id ?? missing();
  const attempts = orders.arrivals.filter(({ deliveryId }) => deliveryId === id);
  expect(await askPage('ExplainDelivery', { id })).toMatchObject({
    webhookDelivery: {
      status: 'PENDING',
      delay: { reason: 'RETRY_SCHEDULED' },
      attemptCount: attempts.length,
      attempts: expect.arrayContaining([expect.objectContaining({ responseStatus: 503, advice: expect.any(String) })]),
    },
  });

  // It works again. Pending deliveries arrive once, including those that would be retried an hour later or more.
  const retries = (await scheduleOf(orders)).filter((time) => time > afterMs(restoredAt, hourMs));
  expect(retries).toHaveLength(3);
  orders.status = 204;
  const before = orders.arrivals.length;
  await clock.advanceTo(new Date(health.breakerOpenUntil ?? missing()));
  await work(() => expect(orders.placed()).toHaveLength(24));
  expect(retries.filter((time) => time <= clock.now())).toEqual([]);
  const arrived = orders.arrivals.slice(before);
  expect(arrived).toHaveLength(23);
  expect(orders.placed().toSorted()).toEqual([beforeId, firstId, ...early, ...late].toSorted());
  // The ramp begins with one request, and ends with 16.
  expect(arrived[0]?.inFlight).toBe(1);
  expect(Math.max(...arrived.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(16);
  expect(await findFirst()).toContainEqual(expect.objectContaining({ id, status: 'DELIVERED' }));
  expect(await healthOf(orders)).toMatchObject({ state: 'HEALTHY', consecutiveFailures: 0, pendingCount: 0 });
  const after = await hoursOf(orders);
  expect(sum(after, 'deliveredCount')).toBe(24);
  expect(after.at(-1)?.longestWaitSeconds).toBeGreaterThanOrEqual(24 * 3_600);

  // Success has to hold for 5 minutes. A check each 10 seconds sees it.
  await eventually(async () => {
    await clock.advanceTo(afterMs(clock.now(), hourMs / 10));
    await work(() => expect(alerts.arrivals).toHaveLength(2), 15_000);
  }, 240_000);
  expect(alerts.arrivals[1]).toMatchObject({
    type: 'webhook_subscription.recovered',
    data: { ...about(orders, 'Orders'), disruptedAt: disrupted.timestamp },
  });

  // Another receiver is removed.
  crm.status = 410;
  const [lastId = missing()] = await place(1);
  await work(() => expect(alerts.arrivals).toHaveLength(3));
  type Subscription = { webhookSubscription: { pausedAt: string; pausedReason: string; health: Health } };
  const { webhookSubscription: paused } = await ask<Subscription>(
    'query ($id: ID!) { webhookSubscription(id: $id) { pausedAt pausedReason health { state pendingCount } } }',
    { id: crm.id },
  );
  expect(paused).toMatchObject({ pausedReason: 'GONE', health: { state: 'PAUSED', pendingCount: 1 } });
  expect(alerts.arrivals[2]).toMatchObject({
    type: 'webhook_subscription.paused',
    data: { ...about(crm, 'CRM'), reason: 'GONE', pausedAt: paused.pausedAt },
  });

  // Nothing is lost, and nothing arrives twice.
  crm.status = 204;
  const resumed = await ask<{ resumeWebhookSubscription: object }>(
    'mutation ($id: ID!) { resumeWebhookSubscription(input: { id: $id }) { userErrors { code } } }',
    { id: crm.id },
  );
  expect(resumed.resumeWebhookSubscription).toEqual({ userErrors: [] });
  const all = [beforeId, firstId, ...early, ...late, lastId].toSorted();
  await work(() => {
    for (const subject of [orders, crm]) expect(subject.placed().toSorted()).toEqual(all);
    expect(orders.arrivals.map(({ type }) => type)).toContain('webhook_subscription.paused');
  });
  expect(alerts.arrivals).toHaveLength(3);
  // Of alerts, it gets only those about others.
  expect(new Set(orders.arrivals.map(({ type }) => type))).toEqual(
    new Set(['order.placed', 'webhook_subscription.paused']),
  );
});
