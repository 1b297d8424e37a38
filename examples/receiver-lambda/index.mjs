import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { lambdaHandler } from '@deedwire/webhook-receiver/lambda';
import { memoryStore } from '@deedwire/webhook-receiver/memory';

const { WEBHOOK_SECRET = '' } = process.env;

const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: [WEBHOOK_SECRET],
  // Each instance of the function has its own memory. Use PostgreSQL or Redis in production.
  store: memoryStore(),
  // For example "200 HANDSHAKE".
  onResult: ({ status, code }) => console.log(status, code),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

export const handler = lambdaHandler(receiver);
