import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const fixture = '../../packages/webhook-events/fixtures/referral.converted/2027-02-01/accept/typical.json';

/** The body of a `referral.converted` webhook of version 2027-02-01, as the worker sends it. */
export const event = Buffer.from(JSON.stringify(JSON.parse(readFileSync(new URL(fixture, import.meta.url), 'utf8'))));

export const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const textKey = Buffer.from(secret);
const decodedKey = Buffer.from(secret.slice('whsec_'.length), 'base64');

export const targetHeaders = {
  'X-Service-Webhook-Subscription-Id': 'gid://service/WebhookSubscription/123456789012345678',
};
export const deliveryHeaders = {
  'X-Service-Webhook-Event': 'referral.converted',
  'X-Service-Webhook-Event-Version': '2027-02-01',
  'X-Service-Webhook-Attempt': '1',
  'X-Service-Webhook-Sequence': '12345',
};

/** The headers of a delivery, signed with both schemes by the shortest code. */
export function signedHeaders(webhookId: string, body: string | Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    ...targetHeaders,
    ...deliveryHeaders,
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Deedwire-Webhooks/1.0.0',
    'x-service-webhook-timestamp': timestamp,
    'x-service-webhook-signature': createHmac('sha256', textKey).update(`${timestamp}.`).update(body).digest('hex'),
    'webhook-id': webhookId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', decodedKey).update(`${webhookId}.${timestamp}.`).update(body).digest('base64')}`,
  };
}
