import { signWebhook } from '@deedwire/webhook-signing';
import { codeBlock } from '../markdown.ts';
import { deliveryHeaderWords } from '../words/delivery-headers.ts';
import { meaningOf } from '../words/meaning-of.ts';

/** `whsec_` and the base64 of a text that says so. */
export const exampleSecret = `whsec_${Buffer.from('not a secret but an example of it').toString('base64')}`;

/** An event as it is published, with its own words for a request. */
export interface EventBody {
  type: string;
  version: string;
  timestamp: string;
}

/** A delivery as its receiver gets it. The signatures are right for the body and the example secret. */
export function exampleDelivery(body: EventBody): string {
  const id = 'gid://service/WebhookDelivery/88';
  const timestamp = Math.floor(Date.parse(body.timestamp) / 1000);
  const rawBody = JSON.stringify(body);
  const values: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'Deedwire-Webhooks/1.0.0',
    'x-service-webhook-event': body.type,
    'x-service-webhook-event-version': body.version,
    'x-service-webhook-subscription-id': 'gid://service/WebhookSubscription/5',
    'x-service-webhook-sequence': '12',
    'x-service-webhook-attempt': '1',
    ...signWebhook({ id, timestamp, body: rawBody, secret: exampleSecret }),
  };
  const headers = Object.keys(deliveryHeaderWords).map((name) => `${name}: ${meaningOf(values, name.toLowerCase())}`);
  return codeBlock('http', ['POST <your callback URL> HTTP/1.1', ...headers, '', rawBody].join('\n'));
}
