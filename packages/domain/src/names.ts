/**
 * The names by which clients and receivers know the service. `pnpm names` changes them, here and in the contracts, the published
 * packages, the tests and the pages, which contain them as text. They must not change after the first release: programs of others
 * send and read these headers, and have stored keys and identifiers.
 */
export const names = {
  /** The default of `GID_NAMESPACE`: `gid://service/Partner/1`. */
  gidNamespace: 'service',
  /** Begins each API key. */
  apiKeyPrefix: 'dw',
  /** Begins each header that is not a standard one. */
  headerPrefix: 'X-Service',
  /** Of deliveries and handshakes, followed by a version. */
  userAgent: 'Deedwire-Webhooks',
} as const;

/** The headers of requests to an interface. */
export const requestHeaders = {
  clientId: `${names.headerPrefix}-Client-Id`,
  apiKey: `${names.headerPrefix}-API-Key`,
  organizationId: `${names.headerPrefix}-Organization-Id`,
  schemaVersion: `${names.headerPrefix}-Schema-Version`,
} as const;

/** The only header of a request that is a secret, in lower case. */
export const apiKeyHeader = requestHeaders.apiKey.toLowerCase();

const webhook = `${names.headerPrefix}-Webhook` as const;

/** The headers of a delivery, without those of its signature. */
export const deliveryHeaders = {
  subscriptionId: `${webhook}-Subscription-Id`,
  event: `${webhook}-Event`,
  eventVersion: `${webhook}-Event-Version`,
  attempt: `${webhook}-Attempt`,
  sequence: `${webhook}-Sequence`,
  replay: `${webhook}-Replay`,
  test: `${webhook}-Test`,
} as const;
