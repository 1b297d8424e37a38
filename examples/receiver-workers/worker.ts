import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';

const receiver = createWebhookReceiver({
  secrets: ({ WEBHOOK_SECRET }: { WEBHOOK_SECRET?: string }) => (WEBHOOK_SECRET ? [WEBHOOK_SECRET] : []),
  // Each isolate has its own memory. Use a store that they share in production.
  store: memoryStore(),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

export default { fetch: receiver.fetch };
