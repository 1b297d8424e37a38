import type { Limit } from '../manifest.ts';

/** What each limit of a manifest is about. Its unit is in its name. */
export const limitWords: Readonly<Record<string, string>> = {
  clientEmailCharacters: "A client's e-mail address.",
  clientNameCharacters: "A client's name.",
  clientCostPoints: 'Points that a client can spend at once.',
  clientCostPointsRestoredPerSecond: 'Points that a client gets back.',
  externalReferenceCharacters: 'An external reference.',
  idempotencyKeyCharacters: 'An idempotency key.',
  idempotencyKeyLifetimeHours: 'How long an idempotency key is remembered.',
  noteCharacters: 'A note.',
  operationCostPoints: 'What an operation may cost.',
  operationDurationMs: 'How long an operation may take.',
  operationsPerRequest: 'Operations that one request runs.',
  queryAliases: 'Aliases in a document.',
  queryDepth: 'Depth of a document.',
  queryDirectives: 'Directives in a document.',
  queryTokens: 'Tokens of a document.',
  requestBodyBytes: 'The body of a request.',
  requestBodyDurationMs: 'How long the body of a request may take to arrive.',
  rootMutationFields: 'Root fields of a mutation.',
  teamMembers: 'Members of a lender.',
  webhookAcknowledgementMs: 'How long a callback URL has to answer completely.',
  webhookAttempts: 'Attempts of a delivery.',
  webhookAttemptsListed: 'Attempts of a delivery that are listed, the latest.',
  webhookCallbackUrlCharacters: 'A callback URL.',
  webhookPayloadBytes: 'The body of a delivery.',
  webhookSecretMaximumBytes: 'The longest webhook secret, decoded.',
  webhookSecretMinimumBytes: 'The shortest webhook secret, decoded.',
  webhookSubscriptions: 'Subscriptions of an account.',
  webhookVerificationsPerMinute: 'Callback URLs verified for an account.',
};

const units: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/Bytes$/, ' bytes'],
  [/Characters$/, ' characters'],
  [/Hours$/, ' hours'],
  [/Ms$/, ' ms'],
  [/PerMinute$/, ' a minute'],
  [/PerSecond$/, ' a second'],
  [/Points$/, ' points'],
];

/** A limit's value with its unit, for example `100,000 bytes`, and whether it is held against clients yet. */
export function limitValue(name: string, limit: number | Limit): string {
  const { value, enforced = true } = typeof limit === 'number' ? { value: limit } : limit;
  const [, unit = ''] = units.find(([ending]) => ending.test(name)) ?? [];
  return `${value.toLocaleString('en')}${unit}${enforced ? '' : ', announced: not enforced yet'}`;
}
