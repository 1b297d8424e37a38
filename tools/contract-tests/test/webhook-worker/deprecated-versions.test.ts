import { toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { createDeprecationHeaders } from '@deedwire/worker/deprecation-headers';
import { createSend } from '@deedwire/worker/send';
import { expect, test } from 'vitest';
import { listedHeaders } from '../support/delivery-headers.ts';

const eventTypes = [
  {
    type: 'order.placed',
    versions: [
      { version: '2025-01-01', deprecatedOn: '2026-03-01', sunsetOn: '2027-03-01' },
      { version: '2025-06-01', deprecatedOn: '2026-03-01', sunsetOn: null },
      { version: '2026-01-01', deprecatedOn: null, sunsetOn: null },
    ],
  },
];
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const receiver = await forFile(startReceiver());
const sender = await forFile(
  createWebhookSender({ policy: 'development', headerPrefix: 'X-Service', userAgent: 'Deedwire-Webhooks/1.0.0' }),
);

/** The headers with which a delivery of the event version arrives. */
async function sendVersion(eventVersion: string, eventType = 'order.placed') {
  const deprecationHeaders = createDeprecationHeaders(eventTypes, 'https://docs.example');
  const send = createSend({ service: testService, sender, gidNamespace: 'service', deprecationHeaders });
  const subscription = {
    subscriptionId: toRecordId<'WebhookSubscription'>('5'),
    accountId: toRecordId<'Account'>('7'),
  };
  const target = {
    ...subscription,
    callbackUrl: receiver.url,
    secret,
    nextSecret: null,
    urlNumber: 1,
    rotationEndsAtMs: null,
    timeoutMs: 5_000,
    requestHeader: null,
    isHeaderDropped: false,
    state: {
      consecutiveFailures: 0,
      breakerOpenUntilMs: null,
      breakerProbes: 0,
      holdUntilMs: null,
      failingSinceMs: null,
      lastFailureMs: null,
      lastFailedDeliveryId: null,
    },
    marks: { hastenedAtMs: -Infinity, sendPendingAtMs: -Infinity },
  };
  const delivery = {
    ...subscription,
    deliveryId: toRecordId<'WebhookDelivery'>('88'),
    eventId: toRecordId<'WebhookEvent'>('3'),
    eventType,
    eventVersion,
    occurredAt: new Date('2026-11-20T12:00:00Z'),
    sequence: '12',
    attempts: 0,
    priorAttempts: 0,
    requestId: null,
    isTest: false,
    replayId: null,
    claims: [],
    dueAtMs: 0,
    body: Buffer.from('{}'),
  };
  expect(await send(target, delivery, 1, undefined)).toMatchObject({ responseStatus: 204, error: null });
  return receiver.deliveries.at(-1)?.headers ?? {};
}

test('announces the deprecation and the sunset of the event version', async () => {
  expect(await sendVersion('2025-01-01')).toMatchObject({
    'x-service-webhook-event-version': '2025-01-01',
    deprecation: '@1772323200',
    sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
    link: '<https://docs.example/versions.md#detect-a-deprecated-version>; rel="deprecation", <https://docs.example/versions.md#move-to-a-newer-version>; rel="sunset"',
  });
});

test('announces only the deprecation while no sunset is planned', async () => {
  const headers = await sendVersion('2025-06-01');
  expect(headers).toMatchObject({
    deprecation: '@1772323200',
    link: '<https://docs.example/versions.md#detect-a-deprecated-version>; rel="deprecation"',
  });
  expect(headers).not.toHaveProperty('sunset');
});

test.each([
  ['2026-01-01', 'order.placed'],
  ['2025-01-01', 'api_key.created'],
  ['2024-01-01', 'order.placed'],
])('announces nothing for version %s of %s, which is not deprecated or not known', async (version, type) => {
  const headers = await sendVersion(version, type);
  expect(headers).toMatchObject({ 'x-service-webhook-event': type });
  expect(Object.keys(headers).filter((name) => /^(?:deprecation|sunset|link)$/.test(name))).toEqual([]);
});

function listed(...sent: string[]): string[] {
  return listedHeaders()
    .filter(([, when]) => sent.includes(when))
    .map(([name]) => name)
    .toSorted();
}

test('a delivery carries the headers that the contract lists for it, and no others', async () => {
  const ofTransport = ['accept-encoding', 'connection', 'content-length', 'host'];
  const received = async (version: string): Promise<string[]> =>
    Object.keys(await sendVersion(version))
      .filter((name) => !ofTransport.includes(name))
      .toSorted();
  expect(await received('2026-01-01')).toEqual(listed('always', 'with events'));
  expect(await received('2025-01-01')).toEqual(listed('always', 'with events', 'with deprecated versions'));
});
