import { interfaceNames } from '@deedwire/firm/interfaces';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { attemptsMax, retrySchedule } from '@deedwire/webhooks/retry-schedule';
import { deliveryHeaderNames as own } from '../header-names.ts';
import { deliveryHeaders } from './descriptions.ts';
import { type History, remarksOn } from './history.ts';
import { statusSummary } from './lifecycle.ts';
import { code, codeBlock, link, page, table } from './markdown.ts';

/** The page about everything that deliveries of all event types share. */
export function deliveriesPage(history: History): string {
  const remark = remarksOn(history, 'delivery-headers.json');
  return page('Webhook deliveries', [
    `Deedwire sends each event with POST to the callback URL of every subscription that lists the event type, at the payload version that the subscription pins, with ${link('these exceptions', '../../completeness.md#when-an-event-is-not-delivered')}. This page describes what all deliveries share.`,
    `See also: ${link('all versions', '../README.md')} · ${link('version lifecycle', '../../versions.md')} · ${link('how to verify a signature', '../../../packages/webhook-signing/README.md')} · ${link('how to read a body', '../../../packages/webhook-events/README.md')} · AsyncAPI documents of the ${interfaceNames.map((name) => link(name, `../../../packages/webhook-events/asyncapi/${name}.json`)).join(' and ')} interface.`,
    '## Event types',
    eventTypeTable(''),
    '## Headers',
    'Header names are not case-sensitive.',
    table(
      ['header', 'sent', 'description'],
      Object.entries(deliveryHeaders).map(([name, { sent, description }]) => [
        code(name),
        sent,
        description + remark(`/headers/${name}`, null),
      ]),
    ),
    '`always` includes the handshake. During a secret rotation, `webhook-signature` contains the signatures made with both secrets.',
    `\`Deprecation\`, \`Sunset\` and \`Link\` arrive with the deliveries of a payload version that is ${link('deprecated', '../../versions.md#detect-a-deprecated-version')}.`,
    'A subscription can have one header more, for what is in front of your receiver: its `requestHeader`, with a secret value, in every request, the handshake included.',
    '## Handshake',
    'Before a callback URL receives events, Deedwire sends it a signed request whose body has one key. Respond with a 2xx status and the same JSON object within 5 seconds.',
    codeBlock('json', '{"verification_token":"<token>"}'),
    `The \`webhook-id\` of a handshake begins with \`handshake_\`. A handshake does not carry the headers ${code(own.event)}, \`-Event-Version\`, \`-Subscription-Id\`, \`-Sequence\` and \`-Attempt\`.`,
    '## Your response',
    'Respond with a 2xx status within 5 seconds, or within the `timeoutSeconds` of the subscription, up to 15, including the response body. Deedwire does not follow redirects. A 410 also pauses the subscription. Any other response, and none, is a failed attempt, which Deedwire [retries](#retries).',
    `Deliveries can repeat and can arrive out of order: deduplicate by ${link('`webhook-id`', '#headers')}, and order by ${code(own.sequence)}.`,
    'Deedwire keeps the headers and the first 16 kB of a response for 7 days, unless the operator keeps them for another time, and shows them to the owner of the subscription as `WebhookAttempt.exchange`: send no secret.',
    '## Retries',
    `Deedwire sends a delivery up to ${attemptsMax} times. Each delay is up to 20 % longer than the table says, so that deliveries that failed together are not all sent together again:`,
    retryTable(),
    `After the last attempt, the delivery is \`FAILED\`: ${link('send it again', '../../webhook-did-not-arrive.md#4-send-it-again')}. A subscription whose attempts have all failed for 96 hours is paused.`,
    `An attempt can be later: ${link('`Retry-After`', '../../webhook-did-not-arrive.md#an-attempt-failed')} delays the next attempt of its delivery, to at most 12 hours and up to 20 % later, and with 429 or 503 it stops all requests to the subscription. After 10 failures in a row, Deedwire sends one request at a time, up to 5 minutes apart. It can be earlier: once the receiver works again, ${link('pending deliveries are sent', '../../webhook-did-not-arrive.md#pending-deliveries')}, at most once an hour.`,
  ]);
}

/** Every attempt, and when it starts if all earlier ones failed. */
function retryTable(): string {
  const rows = retrySchedule().map(({ attempt, delayMs, earliestMs, latestMs }) => [
    String(attempt),
    attempt === 1 ? '–' : duration(delayMs),
    duration(earliestMs),
    duration(latestMs),
  ]);
  return table(['attempt', 'delay', 'since the first attempt', 'with the longest delays'], rows, {
    isLastPadded: true,
  });
}

/** Its two largest units: `1 h 31 min`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return first === -1 ? '0 s' : shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** @param base the path of the event pages, relative to the page that contains the table */
export function eventTypeTable(base: string): string {
  const rows = webhookEventTypes.flatMap(({ type, description, interfaces, versions }) =>
    versions.map((version) => [
      code(type),
      link(version.version, `${base}${type}/${version.version}.md`),
      statusSummary(version),
      interfaces.join(', '),
      description,
    ]),
  );
  return table(['event type', 'version', 'status', 'interface', 'occurs when'], rows);
}
