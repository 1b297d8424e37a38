import type { Limit } from '../manifest.ts';

/** Descriptions of the limits of a manifest. The name of a limit contains its unit. */
export const limitDescriptions: Readonly<Record<string, string>> = {
  clientEmailCharacters: 'Length of `clientEmail`.',
  clientNameCharacters: 'Length of `clientName`.',
  clientCostPoints: 'Cost points that an API client can accumulate.',
  clientCostPointsRestoredPerSecond: 'Cost points that an API client regains.',
  externalReferenceCharacters: 'Length of `externalReference`.',
  idempotencyKeyCharacters: 'Length of an idempotency key.',
  idempotencyKeyLifetimeHours: 'Time for which an idempotency key is remembered.',
  noteCharacters: 'Length of `note`.',
  operationCostPoints: 'Cost of an operation: `requestedQueryCost`.',
  operationDurationMs: 'Duration of an operation.',
  operationsPerRequest: 'Operations that one request can run.',
  queryAliases: 'Aliases in a document.',
  queryBytesPerPoint: 'Size of a new document that costs a point.',
  queryDepth: 'Depth of a document.',
  queryDirectives: 'Directives in a document.',
  queryTokens: 'Tokens in a document.',
  referralIds: 'Identifiers in `referralsByIds`.',
  rejectedQueryBytesPerPoint: 'Size of a rejected document, or of a body with rejected variables, that costs a point.',
  rejectedQueryMinimumPoints: 'Least cost of a rejected document, or of rejected variables.',
  requestBodyBytes: 'Size of a request body.',
  requestBodyBytesPerPoint: 'Size of a request body that costs a point.',
  requestBodyDurationMs: 'Time in which a request body must arrive.',
  rootMutationFields: 'Root fields in a mutation.',
  teamMembers: 'Members of a lender.',
  webhookAcknowledgementMs: 'Time in which a receiver must send its complete response.',
  webhookAttempts: 'Attempts of a delivery.',
  webhookAttemptsListed: 'Attempts of a delivery that a request lists at a time.',
  webhookCallbackUrlCharacters: 'Length of a callback URL.',
  webhookEventWaits:
    'Requests of `webhookEvents` of an account that wait at a server at a time. A further one is answered at once.',
  webhookEventWaitSeconds: 'The longest wait of `webhookEvents`: `waitSeconds`.',
  webhookEventsPageBytes: 'Size of the payloads of a page of `webhookEvents`.',
  webhookPayloadBytes: 'Size of the body of a delivery.',
  webhookReplayedPerSecond: 'Deliveries that a replay queues: `maxPerSecond`.',
  webhookRetriesPerMinute: 'Calls of `retryWebhookDelivery` for an account.',
  webhookSecretMaximumBytes: 'Maximum length of a webhook secret after decoding.',
  webhookSecretMinimumBytes: 'Minimum length of a webhook secret after decoding.',
  webhookSecretOverlapSeconds: 'Overlap of a rotation of a webhook secret.',
  webhookSubscriptions: 'Subscriptions of an account.',
  webhookListeners: 'Listeners of an account.',
  webhookTestEventsPerMinute: 'Test events that an account sends.',
  webhookVerificationsPerMinute: 'Handshakes for an account.',
};

const units: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/Bytes$/, ' bytes'],
  [/BytesPerPoint$/, ' bytes per point'],
  [/Characters$/, ' characters'],
  [/Hours$/, ' hours'],
  [/Ms$/, ' ms'],
  [/PerMinute$/, ' per minute'],
  [/PerSecond$/, ' per second'],
  [/Points$/, ' points'],
  [/Seconds$/, ' seconds'],
];

/** A limit's value with its unit, for example `100,000 bytes`, and a remark if it is not enforced yet. */
export function limitValue(name: string, limit: number | Limit): string {
  const { value, enforced = true } = typeof limit === 'number' ? { value: limit } : limit;
  const [, unit = ''] = units.find(([ending]) => ending.test(name)) ?? [];
  return `${value.toLocaleString('en')}${unit}${enforced ? '' : ' (announced, not enforced yet)'}`;
}
