import { createServer } from 'node:http';
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';

const { PORT = '4005', WEBHOOK_SECRET = '' } = process.env;

const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: [WEBHOOK_SECRET],
  store: memoryStore(),
  // For example "200 HANDSHAKE".
  onResult: ({ status, code }) => console.log(status, code),
  on: {
    'referral.created': {
      '2026-11-01': ({ type, data }) => console.log(type, data.referralId),
    },
  },
});

createServer(nodeHandler(receiver)).listen(Number(PORT), () => console.log(`Listening on port ${PORT}.`));
