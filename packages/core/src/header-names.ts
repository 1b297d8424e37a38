import { ofService } from './interfaces.ts';

/** As much of a service as the names of its headers need. */
interface Named {
  readonly names: { readonly headerPrefix: string };
}

/** The headers of requests to an interface. */
export const requestHeaders = ofService(({ names: { headerPrefix } }: Named) => ({
  clientId: `${headerPrefix}-Client-Id`,
  apiKey: `${headerPrefix}-API-Key`,
  organizationId: `${headerPrefix}-Organization-Id`,
  schemaVersion: `${headerPrefix}-Schema-Version`,
}));

/** The only header of a request that is a secret, in lower case. */
export function apiKeyHeader(service: Named): string {
  return requestHeaders(service).apiKey.toLowerCase();
}

/** The headers of a delivery, without those of its signature. */
export const deliveryHeaders = ofService(({ names: { headerPrefix } }: Named) => ({
  subscriptionId: `${headerPrefix}-Webhook-Subscription-Id`,
  event: `${headerPrefix}-Webhook-Event`,
  eventVersion: `${headerPrefix}-Webhook-Event-Version`,
  attempt: `${headerPrefix}-Webhook-Attempt`,
  sequence: `${headerPrefix}-Webhook-Sequence`,
  replay: `${headerPrefix}-Webhook-Replay`,
  test: `${headerPrefix}-Webhook-Test`,
}));
