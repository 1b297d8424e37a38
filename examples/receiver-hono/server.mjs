import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { honoHandler } from '@deedwire/webhook-receiver/hono';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

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

const app = new Hono();
app.post('/webhooks', honoHandler(receiver));
serve({ fetch: app.fetch, port: Number(PORT) }, () => console.log(`Listening on port ${PORT}.`));
