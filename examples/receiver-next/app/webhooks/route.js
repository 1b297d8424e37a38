import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nextHandler } from '@deedwire/webhook-receiver/next';

const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  // A function, because the build loads this module too, without the secret.
  secrets: () => [process.env.WEBHOOK_SECRET ?? ''],
  store: memoryStore(),
  // For example "200 HANDSHAKE".
  onResult: ({ status, code }) => console.log(status, code),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

export const POST = nextHandler(receiver);
