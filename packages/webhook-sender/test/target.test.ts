import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { expect, it } from 'vitest';
import { secret, sender } from './sender.ts';
import { httpReceiver } from './test-receivers.ts';

const delivery = { webhookId: 'gid://service/WebhookDelivery/1', body: Buffer.from('{}'), headers: {} };

it('delivers many times, with the headers of the target and of each delivery', async () => {
  const receiver = await httpReceiver((response) => response.end());
  const headers = { 'X-Service-Webhook-Subscription-Id': 'gid://service/WebhookSubscription/1' };
  const target = sender().target({ url: receiver.url, secret, headers });
  for (const attempt of ['1', '2']) {
    const result = await target.deliver({ ...delivery, headers: { 'X-Service-Webhook-Attempt': attempt } });
    expect(result).toMatchObject({ responseStatus: 200, error: null });
  }
  expect(receiver.requests.map(({ headers: received }) => received)).toMatchObject([
    { 'x-service-webhook-subscription-id': 'gid://service/WebhookSubscription/1', 'x-service-webhook-attempt': '1' },
    { 'x-service-webhook-subscription-id': 'gid://service/WebhookSubscription/1', 'x-service-webhook-attempt': '2' },
  ]);
});

it('shares its connections with other targets of the same origin', async () => {
  const receiver = await httpReceiver((response) => response.end());
  const created = sender();
  const secrets = [generateWebhookSecret(), generateWebhookSecret()];
  for (const each of secrets) await created.target({ url: receiver.url, secret: each }).deliver(delivery);
  expect(receiver.connections).toHaveLength(1);
  for (const [index, each] of secrets.entries()) {
    const { headers = {}, body = '' } = receiver.requests[index] ?? {};
    expect(() => verifyWebhook({ prefix: 'X-Service', headers, body, secret: each })).not.toThrow();
  }
});

it.each([
  ['a forbidden URL', { url: 'ftp://receiver.example/' }, 'URL_FORBIDDEN'],
  ['a malformed secret', { secret: 'whsec_x' }, 'PROTOCOL_ERROR'],
  ['a malformed next secret', { nextSecret: '' }, 'PROTOCOL_ERROR'],
  ['an invalid header', { headers: { 'x y': 'b' } }, 'PROTOCOL_ERROR'],
])('reports %s as the result of every attempt', async (_case, more, error) => {
  const receiver = await httpReceiver((response) => response.end());
  const target = sender().target({ url: receiver.url, secret, ...more });
  for (let round = 0; round < 2; round += 1) {
    expect(await target.deliver(delivery)).toMatchObject({ error, responseStatus: null, retryAfter: null });
  }
  expect(receiver.requests).toEqual([]);
});

it('keeps as many idle connections as it is configured to', async () => {
  const receivers = [
    await httpReceiver((response) => response.end()),
    await httpReceiver((response) => response.end()),
  ];
  const created = sender({ maxIdleConnections: 1 });
  for (let round = 0; round < 2; round += 1) {
    for (const { url } of receivers) await created.target({ url, secret }).deliver(delivery);
  }
  expect(receivers.map(({ connections }) => connections.length)).toEqual([1, 2]);
});
