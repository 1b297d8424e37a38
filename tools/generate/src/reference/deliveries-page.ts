import { deliveryHeaders } from '@deedwire/core';
import { attemptsMax, retrySchedule } from '@deedwire/webhooks/retry-schedule';
import { docsFolder, signingFolder } from '../platform-folders.ts';
import { readDeliveryHeaders } from './descriptions.ts';
import { remarksOn } from './history.ts';
import { statusSummary } from './lifecycle.ts';
import { code, codeBlock, link, page, table } from './markdown.ts';
import type { PathTo } from './path-to.ts';
import type { PublishedEvents } from './published-events.ts';

/**
 * The page about everything that deliveries of all event types share.
 *
 * @param pathTo relative to the page
 */
export function deliveriesPage(events: PublishedEvents, pathTo: PathTo): string {
  const { names, interfaceNames, payloads, history } = events;
  const own = deliveryHeaders({ names });
  const remark = remarksOn(history, 'delivery-headers.json');
  const docs = (path: string): string => pathTo(`${docsFolder}/${path}`);
  return page('Webhook deliveries', [
    `Deedwire sends each event with POST to the callback URL of every subscription that lists the event type, at the payload version that the subscription pins, with ${link('these exceptions', docs('completeness.md#when-an-event-is-not-delivered'))}. This page describes what all deliveries share.`,
    `See also: ${link('all versions', '../README.md')} · ${link('version lifecycle', docs('versions.md'))} · ${link('how to verify a signature', pathTo(`${signingFolder}/README.md`))} · ${link('how to read a body', pathTo(`${payloads}/README.md`))} · AsyncAPI documents of the ${interfaceNames.map((name) => link(name, pathTo(`${payloads}/asyncapi/${name}.json`))).join(' and ')} interface.`,
    '## Event types',
    eventTypeTable(events, ''),
    '## Headers',
    'Header names are not case-sensitive.',
    table(
      ['header', 'sent', 'description'],
      Object.entries(readDeliveryHeaders(payloads)).map(([name, { sent, description }]) => [
        code(name),
        sent,
        description + remark(`/headers/${name}`, null),
      ]),
    ),
    '`always` includes the handshake. During a secret rotation, `webhook-signature` contains the signatures made with both secrets.',
    `\`Deprecation\`, \`Sunset\` and \`Link\` arrive with the deliveries of a payload version that is ${link('deprecated', docs('versions.md#detect-a-deprecated-version'))}.`,
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
    `After the last attempt, the delivery is \`FAILED\`: ${link('send it again', docs('webhook-did-not-arrive.md#4-send-it-again'))}. A subscription whose attempts have all failed for 96 hours is paused.`,
    `An attempt can be later: ${link('`Retry-After`', docs('webhook-did-not-arrive.md#an-attempt-failed'))} delays the next attempt of its delivery, to at most 12 hours and up to 20 % later, and with 429 or 503 it stops all requests to the subscription. After 10 failures in a row, Deedwire sends one request at a time, up to 5 minutes apart. It can be earlier: once the receiver works again, ${link('pending deliveries are sent', docs('webhook-did-not-arrive.md#pending-deliveries'))}, at most once an hour.`,
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
export function eventTypeTable({ types }: PublishedEvents, base: string): string {
  const rows = types.flatMap(({ type, description, interfaces, versions }) =>
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
