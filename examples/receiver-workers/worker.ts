import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { workersHandler } from '@deedwire/webhook-receiver/workers';

const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: ({ WEBHOOK_SECRET }: { WEBHOOK_SECRET: string }) => [WEBHOOK_SECRET],
  // For tests only: each isolate has its own memory.
  store: memoryStore(),
  // For example "200 HANDSHAKE".
  onResult: ({ status, code }) => console.log(status, code),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

export default { fetch: workersHandler(receiver) };
