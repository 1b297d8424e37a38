import { deliveryHeaders, type Names } from '@deedwire/core';
import type { LayoutWithPayloads } from '@deedwire/layout';
import { compact } from '../event-versions.ts';
import { notice } from '../generated.ts';
import { type DeliveryHeader, readDeliveryHeaders } from '../reference/descriptions.ts';
import type { EventType, EventVersion } from './event-types.ts';

/** What documents name of a service. */
type Publisher = Pick<LayoutWithPayloads, 'names' | 'payloads'>;

interface Headers {
  readonly names: Names;
  readonly described: Readonly<Record<string, DeliveryHeader>>;
}

/**
 * The AsyncAPI 3.0 document of the webhooks of an interface: a channel, an operation and its messages for each event type, and
 * the handshake. It contains every version that is not retired.
 *
 * @param eventTypes those of the interface
 */
export function asyncApiDocument(
  { names, payloads }: Publisher,
  interfaceName: string,
  eventTypes: readonly EventType[],
): object {
  const headers = { names, described: readDeliveryHeaders(payloads) };
  const channels: Record<string, object> = {
    handshake: {
      address: null,
      title: 'Handshake',
      description: 'The callback URL, before it receives events.',
      messages: {
        request: reference('messages', 'HandshakeRequest'),
        response: reference('messages', 'HandshakeResponse'),
      },
    },
  };
  const operations: Record<string, object> = {
    handshake: {
      ...operation('handshake', ['request']),
      summary: 'Verifies a callback URL.',
      description:
        'Sent when a subscription is created and when its callback URL changes. Return the token with a 2xx status within 5 seconds to prove that you own the URL. You can verify the signature if you supplied the secret: a generated one is returned only after the handshake.',
      reply: {
        channel: { $ref: '#/channels/handshake' },
        messages: [{ $ref: '#/channels/handshake/messages/response' }],
      },
    },
  };
  const payload = reference('schemas', 'VerificationToken');
  const messages: Record<string, object> = {
    HandshakeRequest: { name: 'handshake.request', title: 'Handshake', ...headersOf(headers, ['always'], {}), payload },
    HandshakeResponse: { name: 'handshake.response', title: 'Response to the handshake', payload },
  };
  const schemas: Record<string, object> = {
    VerificationToken: {
      title: 'VerificationToken',
      type: 'object',
      properties: { verification_token: { type: 'string', description: 'A token for this handshake only.' } },
      required: ['verification_token'],
    },
  };
  for (const eventType of eventTypes) {
    const { type, description } = eventType;
    const served = eventType.versions
      .filter(({ status }) => status !== 'retired')
      .map((version) => message(headers, eventType, version));
    for (const { id, object, schema } of served) [messages[id], schemas[id]] = [object, schema];
    channels[type] = {
      address: null,
      title: type,
      description: `The callback URL of each subscription that lists \`${type}\`. ${description}`,
      messages: Object.fromEntries(served.map(({ version, id }) => [version, reference('messages', id)])),
    };
    const versions = served.map(({ version }) => version);
    operations[type] = { ...operation(type, versions), summary: description };
  }
  const all = eventTypes.flatMap(({ versions }) => versions);
  const released = all.filter(({ status }) => status !== 'preview').map(({ version }) => version);
  return {
    asyncapi: '3.0.0',
    info: {
      title: `Deedwire webhooks of the ${interfaceName} interface`,
      version: released.toSorted().at(-1),
      description: `${notice}\n\nDeedwire sends each event with POST to the callback URL of every subscription that lists the event type, at the payload version that the subscription pins. The version of this document is that of the newest released payload.\n\nRespond with a 2xx status within 5 seconds, or within the \`timeoutSeconds\` of the subscription. Deedwire retries after any other response. Deliveries can repeat and can arrive out of order: deduplicate by \`webhook-id\` and order by \`${deliveryHeaders({ names }).sequence}\`.\n\nDeedwire keeps the headers and the first 16 kB of a response for 7 days, unless the operator keeps them for another time, and shows them to the owner of the subscription as \`WebhookAttempt.exchange\`: send no secret.`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels,
    operations,
    components: {
      messages,
      schemas,
      securitySchemes: {
        signature: signature(headers, `${names.headerPrefix}-Webhook-Signature`),
        standardWebhooks: signature(headers, 'webhook-signature'),
      },
    },
  };
}

function reference(kind: 'messages' | 'schemas' | 'securitySchemes', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

function operation(channel: string, messages: readonly string[]) {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    messages: messages.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
    // One of the two signatures is enough.
    security: [reference('securitySchemes', 'signature'), reference('securitySchemes', 'standardWebhooks')],
    bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
  };
}

function signature({ described }: Headers, header: string): object {
  return {
    type: 'httpApiKey',
    in: 'header',
    name: header,
    description: `A signature, not a key. ${described[header]?.description ?? ''} Compute it from the secret of the subscription, compare in constant time, and reject a timestamp that is more than 5 minutes away from your clock.`,
  };
}

/** @returns with the name in `components`: `OrderPlaced20261101` */
function message(headers: Headers, { type, description }: EventType, version: EventVersion) {
  // They name the event. Their values are constants of a message.
  const { event: eventHeader, eventVersion: versionHeader } = deliveryHeaders(headers);
  const { $schema: _, $comment: __, ...schema } = version.schema;
  const id = `${schema.title}${compact(version.version)}`;
  const isDeprecated = version.status === 'deprecated';
  const sent = ['always', 'with events', 'with replays', 'with test events', 'during a secret rotation'];
  if (isDeprecated) sent.push('with deprecated versions');
  return {
    version: version.version,
    id,
    schema: { ...schema, ...(isDeprecated && { deprecated: true }) },
    object: {
      name: type,
      title: `${type}, ${version.version}`,
      summary: description,
      description: lifecycle(version),
      ...headersOf(headers, sent, { [eventHeader]: type, [versionHeader]: version.version }),
      payload: reference('schemas', id),
      examples: [{ name: 'typical', payload: version.typical }],
      'x-status': version.status,
      'x-deprecated-on': version.deprecatedOn,
      'x-sunset-on': version.sunsetOn,
    },
  };
}

function lifecycle({ status, deprecatedOn, sunsetOn }: EventVersion): string {
  if (status === 'preview')
    return 'A preview, which can still change in a breaking way. Only subscriptions that name it receive it.';
  if (status !== 'deprecated') return 'Released: changes to it are additions only.';
  return `Deprecated on ${deprecatedOn}, ${sunsetOn === null ? 'without a planned sunset' : `and sent until its sunset on ${sunsetOn}`}.`;
}

/**
 * The headers of a message. AsyncAPI keeps the headers of the protocol apart, in the HTTP binding.
 *
 * @param constants values of headers that are the same in every message
 */
function headersOf(
  { names, described }: Headers,
  sent: readonly string[],
  constants: Readonly<Record<string, string>>,
): object {
  const headers = Object.entries(described).filter(([, header]) => sent.includes(header.sent));
  const schemaOf = (areOwn: boolean): object => {
    const chosen = headers.filter(([name]) => isOwnHeader(names, name) === areOwn);
    const required = chosen.filter(([, header]) => header.sent === 'always' || header.sent === 'with events');
    return {
      type: 'object',
      properties: Object.fromEntries(
        chosen.map(([name, { description }]) => {
          const constant = constants[name];
          return [name, { type: 'string', ...(constant !== undefined && { const: constant }), description }];
        }),
      ),
      required: required.map(([name]) => name),
    };
  };
  return { headers: schemaOf(true), bindings: { http: { headers: schemaOf(false), bindingVersion: '0.3.0' } } };
}

/** Whether the name is one of Standard Webhooks or of the service. */
function isOwnHeader(names: Names, name: string): boolean {
  return name.startsWith('webhook-') || name.startsWith(`${names.headerPrefix}-Webhook-`);
}
