import { deliveryHeaders, deprecationDocumentationAt, deprecationHeaders, readDeprecation } from '@deedwire/core';
import { signWebhook } from '@deedwire/webhook-signing';
import type { EventVersion } from '../../payloads/event-types.ts';
import { descriptionOf, readDeliveryHeaderDescriptions } from '../descriptions.ts';
import { codeBlock } from '../markdown.ts';
import type { PublishedEvents } from '../published-events.ts';

/** A valid secret whose decoded bytes say that it is an example. */
export const exampleSecret = `whsec_${Buffer.from('not a secret but an example of it').toString('base64')}`;

const documentation = deprecationDocumentationAt('https://deedwire.example/docs');

/** A delivery as its receiver sees it. The signatures verify with the example secret. */
export function exampleDelivery({ names, payloads }: PublishedEvents, version: EventVersion): string {
  const { typical: body } = version;
  const own = deliveryHeaders({ names });
  const id = `gid://${names.gidNamespace}/WebhookDelivery/88`;
  const timestamp = Math.floor(Date.parse(body.timestamp) / 1000);
  const rawBody = JSON.stringify(body);
  const signatures = signWebhook({ id, timestamp, body: rawBody, secret: exampleSecret, prefix: names.headerPrefix });
  const values: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': `${names.userAgent}/1.0.0`,
    [own.event.toLowerCase()]: body.type,
    [own.eventVersion.toLowerCase()]: body.version,
    [own.subscriptionId.toLowerCase()]: `gid://${names.gidNamespace}/WebhookSubscription/5`,
    [own.sequence.toLowerCase()]: '12',
    [own.attempt.toLowerCase()]: '1',
    ...signatures,
  };
  const headers = Object.keys(readDeliveryHeaderDescriptions(payloads)).map(
    (name) => `${name}: ${descriptionOf(values, name.toLowerCase())}`,
  );
  const deprecation = readDeprecation(version);
  const announced = deprecation === null ? {} : deprecationHeaders(deprecation, documentation);
  const lines = [...headers, ...Object.entries(announced).map(([name, value]) => `${name}: ${value}`)];
  return codeBlock('http', ['POST <your callback URL> HTTP/1.1', ...lines, '', rawBody].join('\n'));
}
