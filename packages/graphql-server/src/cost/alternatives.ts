/**
 * Groups of fields of which at most one has a value in an object, by coordinate. Only the most expensive one counts before an
 * operation runs.
 */
export type Alternatives = readonly (readonly string[])[];

export const alternatives: Alternatives = [['WebhookExchange.responseBody', 'WebhookExchange.responseBodyBase64']];
