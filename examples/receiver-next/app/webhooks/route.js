import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nextHandler } from '@deedwire/webhook-receiver/next';

const { WEBHOOK_SECRET } = process.env;

const receiver = createWebhookReceiver({
  secrets: WEBHOOK_SECRET ? [WEBHOOK_SECRET] : [],
  store: memoryStore(),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

export const POST = nextHandler(receiver);
