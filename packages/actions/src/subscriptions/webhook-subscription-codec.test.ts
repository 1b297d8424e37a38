import { expect, test } from 'vitest';
import { webhookSubscriptionCodec, type WebhookSubscription } from './webhook-subscriptions.ts';

const subscription: WebhookSubscription = {
  id: 'gid://service/WebhookSubscription/1',
  name: 'Orders',
  callbackUrl: 'https://receiver.example/hook',
  timeoutSeconds: 10,
  requestHeaderName: 'X-Key',
  headerState: 'SENT',
  status: 'PAUSED',
  pausedReason: 'GONE',
  pausedAt: new Date('2026-11-21T08:00:00.000Z'),
  eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
  createdAt: new Date('2026-11-20T08:00:00.123Z'),
  rotation: { startedAt: new Date('2026-11-21T09:00:00.000Z'), endsAt: new Date('2026-11-22T09:00:00.000Z') },
};

const stored =
  '{"id":"gid://service/WebhookSubscription/1","name":"Orders","callbackUrl":"https://receiver.example/hook","timeoutSeconds":10,' +
  '"requestHeaderName":"X-Key","headerState":"SENT","status":"PAUSED",' +
  '"pausedReason":"GONE","pausedAt":"2026-11-21T08:00:00.000Z",' +
  '"eventTypes":[{"type":"order.placed","version":"2026-11-01"}],"createdAt":"2026-11-20T08:00:00.123Z",' +
  '"rotation":{"startedAt":"2026-11-21T09:00:00.000Z","endsAt":"2026-11-22T09:00:00.000Z"}}';

test('writes and reads the stored JSON, whose format is pinned', () => {
  expect(JSON.stringify(webhookSubscriptionCodec.encode(subscription))).toBe(stored);
  expect(webhookSubscriptionCodec.decode(JSON.parse(stored))).toEqual(subscription);
});

test('reads a subscription of a build without rotations, names, timeouts and headers', () => {
  const { id, callbackUrl, status, pausedReason, pausedAt, eventTypes, createdAt } = JSON.parse(stored);
  const earlier = { id, callbackUrl, status, pausedReason, pausedAt, eventTypes, createdAt };
  const expected = {
    ...subscription,
    rotation: null,
    name: null,
    timeoutSeconds: 5,
    requestHeaderName: null,
    headerState: null,
  };
  expect(webhookSubscriptionCodec.decode(earlier)).toEqual(expected);
});
