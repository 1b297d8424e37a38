import { signWebhook, verifyWebhook } from '@deedwire/webhook-signing';
import { event, secret } from '../signed-headers.ts';
import type { ComparisonBench, Contestant } from './comparison.ts';

const id = 'gid://service/WebhookDelivery/123456789012345678';
const body = event;
const text = event.toString();
const signedAt = new Date();
const timestamp = Math.floor(signedAt.getTime() / 1000);

const batch = 100;

/** `operations` is the number of operations that one call of `work` performs. */
function repeated(work: () => unknown, operations = 1): Contestant {
  return {
    run(durationMs) {
      const endMs = performance.now() + durationMs;
      let calls = 0;
      do {
        for (let i = 0; i < batch; i += 1) work();
        calls += batch;
      } while (performance.now() < endMs);
      return calls * operations;
    },
  };
}

/** The headers of a request as Node receives them. */
function receivedHeaders(scheme: 'both' | 'standard'): Record<string, string> {
  const signed = signWebhook({ prefix: 'X-Service', id, timestamp, body, secret });
  const { 'webhook-id': webhookId, 'webhook-timestamp': seconds, 'webhook-signature': signature } = signed;
  return {
    host: 'receiver.example',
    connection: 'keep-alive',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Deedwire-Webhooks/1.0.0',
    ...(scheme === 'both'
      ? signed
      : { 'webhook-id': webhookId, 'webhook-timestamp': seconds, 'webhook-signature': signature }),
    'content-length': String(body.length),
  };
}

function verification(scheme: 'both' | 'standard'): Contestant {
  const headers = receivedHeaders(scheme);
  return repeated(() => verifyWebhook({ prefix: 'X-Service', headers, body, secret }));
}

// Peers are imported by their own contestants only. Stripe's API key is not used for signatures.
const stripeWebhooks = async () => new (await import('stripe')).Stripe('sk_test_unused').webhooks;
const svixWebhook = async () => new (await import('svix')).Webhook(secret);
const standardWebhook = async () => new (await import('standardwebhooks')).Webhook(secret);

export const signing: ComparisonBench = {
  name: 'signing',
  summary: '@deedwire/webhook-signing in Node against stripe, svix and standardwebhooks',
  comparisons: [
    {
      title: `Sign a body of ${body.length} bytes`,
      operation: 'signature',
      baseline: 'stripe',
      contestants: {
        'webhook-signing, two signatures': () =>
          repeated(() => signWebhook({ prefix: 'X-Service', id, timestamp, body, secret })),
        'webhook-signing, each of two': () =>
          repeated(() => signWebhook({ prefix: 'X-Service', id, timestamp, body, secret }), 2),
        stripe: async () => {
          const webhooks = await stripeWebhooks();
          return repeated(() => webhooks.generateTestHeaderString({ payload: text, secret, timestamp }));
        },
        svix: async () => {
          const webhook = await svixWebhook();
          return repeated(() => webhook.sign(id, signedAt, text));
        },
        standardwebhooks: async () => {
          const webhook = await standardWebhook();
          return repeated(() => webhook.sign(id, signedAt, text));
        },
      },
    },
    {
      title: `Verify a body of ${body.length} bytes`,
      operation: 'request',
      baseline: 'stripe',
      contestants: {
        'webhook-signing, two signatures': () => verification('both'),
        'webhook-signing, one signature': () => verification('standard'),
        stripe: async () => {
          const { signature, generateTestHeaderString } = await stripeWebhooks();
          const header = generateTestHeaderString({ payload: text, secret, timestamp });
          return repeated(() => signature?.verifyHeader(body, header, secret));
        },
        svix: async () => {
          const [webhook, headers] = [await svixWebhook(), receivedHeaders('standard')];
          return repeated(() => webhook.verify(body, headers));
        },
        standardwebhooks: async () => {
          const [webhook, headers] = [await standardWebhook(), receivedHeaders('standard')];
          return repeated(() => webhook.verify(body, headers, { jsonParse: false }));
        },
      },
    },
  ],
};
