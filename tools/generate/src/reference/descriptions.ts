import { type Names, requestHeaders } from '@deedwire/core';
import { readJson } from '@deedwire/layout/read-json';
import { z } from 'zod';
import type { ManifestLimit } from '../schema-packages/template/manifest.ts';
import { fileExists, readText } from '../workspace-files.ts';

/** Descriptions of the limits that every manifest has. The name of a limit contains its unit. */
const commonLimits: Readonly<Record<string, string>> = {
  apiKeyAddresses: 'Networks from which an API key is accepted.',
  apiKeys: 'API keys of a client that are accepted.',
  apiKeysPerDay: 'Keys that a client creates or rotates in 24 hours.',
  clientCostPoints: 'Cost points that an API client can accumulate.',
  clientCostPointsRestoredPerSecond: 'Cost points that an API client regains.',
  contactConfirmationsPerAddressPerDay:
    'Confirmations that all accounts together ask for of a contact address in 24 hours.',
  contactConfirmationsPerDay: 'Confirmations of contact addresses that an account asks for in 24 hours.',
  contactEmailCharacters: 'Length of a contact address.',
  contactEmails: 'Contact addresses of an account.',
  idempotencyKeyCharacters: 'Length of an idempotency key.',
  idempotencyKeyLifetimeHours: 'Time for which an idempotency key is remembered.',
  operationCostPoints: 'Cost of an operation: `requestedQueryCost`.',
  operationDurationMs: 'Duration of an operation.',
  operationsPerRequest: 'Operations that one request can run.',
  queryAliases: 'Aliases in a document.',
  queryBytesPerPoint: 'Size of a new document that costs a point.',
  queryDepth: 'Depth of a document.',
  queryDirectives: 'Directives in a document.',
  queryTokens: 'Tokens in a document.',
  rejectedQueryBytesPerPoint: 'Size of a rejected document, or of a body with rejected variables, that costs a point.',
  rejectedQueryMinimumPoints: 'Least cost of a rejected document, or of rejected variables.',
  requestBodyBytes: 'Size of a request body.',
  requestBodyBytesPerPoint: 'Size of a request body that costs a point.',
  requestBodyDurationMs: 'Time in which a request body must arrive.',
  rootMutationFields: 'Root fields in a mutation.',
  webhookAcknowledgementMaximumMs: 'The longest timeout of a subscription: `timeoutSeconds`.',
  webhookAcknowledgementMs:
    'Time in which a receiver must send its complete response, unless its subscription has another timeout.',
  webhookAttempts: 'Attempts of a delivery.',
  webhookAttemptsListed: 'Attempts of a delivery that a request lists at a time.',
  webhookCallbackUrlCharacters: 'Length of a callback URL.',
  webhookEventWaits:
    'Requests of `webhookEvents` of an account that wait at a server at a time. The next one is answered at once.',
  webhookEventWaitSeconds: 'The longest wait of `webhookEvents`: `waitSeconds`.',
  webhookEventsPageBytes: 'Size of the payloads of a page of `webhookEvents`.',
  webhookPayloadBytes: 'Size of the body of a delivery.',
  webhookReplayedPerSecond: 'Deliveries that a replay queues: `maxPerSecond`.',
  webhookRequestHeaderCharacters: 'Length of the value of a secret header: `requestHeader`.',
  webhookRetriesPerMinute: 'Calls of `retryWebhookDelivery` for an account.',
  webhookSecretMaximumBytes: 'Maximum length of a webhook secret after decoding.',
  webhookSecretMinimumBytes: 'Minimum length of a webhook secret after decoding.',
  webhookSecretOverlapSeconds: 'Overlap of a rotation of a webhook secret.',
  webhookStatisticsHours: 'Hours that `WebhookSubscription.statistics` returns, and for which counts are kept.',
  webhookSubscriptionNameCharacters: 'Length of the name of a subscription.',
  webhookSubscriptions: 'Subscriptions of an account.',
  webhookListeners: 'Listeners of an account.',
  webhookTestEventsPerMinute: 'Test events that an account sends.',
  webhookVerificationsPerMinute: 'Handshakes for an account.',
};

/**
 * Descriptions of the limits of an interface. Those that only it has are in `own/descriptions.json`.
 *
 * @param contract the folder of its contract
 */
export function readLimitDescriptions(contract: string): Readonly<Record<string, string>> {
  const path = ownDescriptions(contract);
  return { ...commonLimits, ...(fileExists(path) && readJson(path, z.record(z.string(), z.string()))) };
}

/** Where the limits are described that only one interface has. */
export function ownDescriptions(contract: string): string {
  return `${contract}/own/descriptions.json`;
}

const units: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/Bytes$/, ' bytes'],
  [/BytesPerPoint$/, ' bytes per point'],
  [/Characters$/, ' characters'],
  [/Hours$/, ' hours'],
  [/Ms$/, ' ms'],
  [/PerDay$/, ' per day'],
  [/PerMinute$/, ' per minute'],
  [/PerSecond$/, ' per second'],
  [/Points$/, ' points'],
  [/Seconds$/, ' seconds'],
];

/** A limit's value with its unit, for example `100,000 bytes`, and a remark if it is not enforced yet. */
export function limitValue(name: string, limit: number | ManifestLimit): string {
  const { value, enforced = true } = typeof limit === 'number' ? { value: limit } : limit;
  const [, unit = ''] = units.find(([ending]) => ending.test(name)) ?? [];
  return `${value.toLocaleString('en')}${unit}${enforced ? '' : ' (announced, not enforced yet)'}`;
}

export interface DeliveryHeader {
  sent:
    | 'always'
    | 'with events'
    | 'with replays'
    | 'with test events'
    | 'during a secret rotation'
    | 'with deprecated versions';
  description: string;
}

/**
 * The headers of deliveries, by name, without those of the transport.
 *
 * @param payloads the package of payloads
 */
export function readDeliveryHeaders(payloads: string): Readonly<Record<string, DeliveryHeader>> {
  const manifest: { headers: Record<string, DeliveryHeader> } = JSON.parse(
    readText(`${payloads}/delivery-headers.json`),
  );
  return manifest.headers;
}

/**
 * Descriptions of the headers of a delivery of a version that is not deprecated, that is no test, outside a secret rotation.
 *
 * @param payloads the package of payloads
 */
export function readDeliveryHeaderDescriptions(payloads: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(readDeliveryHeaders(payloads))
      .filter(([, { sent }]) => sent === 'always' || sent === 'with events')
      .map(([name, { description }]) => [name, description]),
  );
}

/**
 * @param file where to add a description
 * @throws {Error} if the name has no description
 */
export function descriptionOf(
  descriptions: Readonly<Record<string, string>>,
  name: string,
  file = 'tools/generate/src/reference/descriptions.ts',
): string {
  const description = descriptions[name];
  if (description === undefined) throw new Error(`Add a description of ${name} to ${file}.`);
  return description;
}

/** Descriptions of the request headers. */
export function requestHeaderDescriptions(names: Names): Readonly<Record<string, string>> {
  const own = requestHeaders({ names });
  return {
    Accept:
      '`application/graphql-response+json` or `application/json`: the media type of the response. Defaults to `application/json`.',
    'Content-Type': '`application/json`, in UTF-8.',
    [own.apiKey]: 'The API key. It works on this interface only.',
    [own.clientId]: 'The id of the API client.',
    [own.organizationId]: 'The id of the organization, the same for all its API clients.',
    [own.schemaVersion]: 'The interface version to use. Defaults to the version pinned on the API client.',
  };
}

/** Example values of the request headers. */
export function requestHeaderExamples(names: Names): Readonly<Record<string, string>> {
  const own = requestHeaders({ names });
  return {
    Accept: 'application/graphql-response+json',
    'Content-Type': 'application/json',
    [own.apiKey]: '<API_KEY>',
    [own.clientId]: '<CLIENT_ID>',
    [own.organizationId]: '<ORGANIZATION_ID>',
  };
}

/** Descriptions of the response headers. */
export function responseHeaderDescriptions(names: Names): Readonly<Record<string, string>> {
  const own = requestHeaders({ names });
  return {
    Allow: 'The allowed method.',
    'Cache-Control': 'Responses must not be stored.',
    Deprecation:
      'The time of the deprecation: `@` followed by Unix seconds ([RFC 9745](https://www.rfc-editor.org/rfc/rfc9745)).',
    Link: 'Links to the documentation of the deprecation and the sunset, if the operator has set one.',
    RateLimit:
      'The cost points that the client has left, `r`, and the seconds until it has more, `t` ([draft-ietf-httpapi-ratelimit-headers-11](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11)).',
    'RateLimit-Policy':
      'The size of the client’s bucket of cost points, `q`, and the seconds in which it fills up, `w`.',
    'Retry-After': 'Seconds to wait before the next request.',
    Sunset:
      'The time from which the version is rejected: an HTTP-date ([RFC 8594](https://www.rfc-editor.org/rfc/rfc8594)).',
    'WWW-Authenticate': 'How to authenticate.',
    'X-Content-Type-Options': 'The media type of the response must not be guessed.',
    'X-Request-Id': 'Identifies the request. Quote it when you report a problem.',
    [own.schemaVersion]: 'The version that served the request.',
  };
}

/** Descriptions of when a header is sent, if that does not depend on the HTTP status. */
export const sentDescriptions: Readonly<Record<string, string>> = {
  always: 'always',
  authenticated: 'when the credentials are valid',
  'with-version': 'when a version was selected',
  'deprecated-version': 'for a deprecated version',
};
