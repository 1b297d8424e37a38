import type { ShownAttemptError } from './shown-attempt-error.ts';

/** The result of an attempt, as clients and operators see it. */
export interface ShownAttemptResult {
  responseStatus: number | null;
  error: ShownAttemptError | null;
  /** As it is stored: of a newer build, it can be unknown. */
  detail: string | null;
}

/** By the class of the failure, whatever the status: the response was not complete. */
const byError: Readonly<Record<ShownAttemptError, string>> = {
  ADDRESS_FORBIDDEN:
    'The callback URL is no longer allowed. Pass another one to `updateWebhookSubscription`; if that is not allowed either, the message states why.',
  CONNECTION_FAILED:
    'No connection, or it was closed before the response was complete. Check that the server runs, that a firewall lets the port through, and its log at `startedAt`.',
  DNS_FAILED:
    'The host name has no address, or one that is not public. Restore its A or AAAA record, and remove private addresses from its public DNS records.',
  PROTOCOL_ERROR:
    'The response is not valid HTTP/1.1, or too large. Check which server listens on the port, and remove large headers, such as cookies, from the response.',
  RENDERING_FAILED:
    'Deedwire could not render the payload and sent no request, so your receiver is not the cause. Report the identifier of the delivery, and read the record with a query.',
  TIMEOUT: 'The complete response did not arrive within 5 seconds. Store the event, respond, and process it later.',
  TLS_FAILED:
    'The certificate has expired, is for another host or is not trusted, or the server does not support TLS 1.2. Pass the callback URL to `updateWebhookSubscription`: the message of a failed handshake states the cause.',
};

/** By status, for those with a cause of their own. */
const byStatus: ReadonlyMap<number, string> = new Map([
  [
    400,
    'The receiver rejected the request. If the response has a code, look it up in "Troubleshooting receivers"; otherwise see its log at `startedAt`.',
  ],
  [
    401,
    'The receiver did not accept the signature, or a login protects the URL. Check the secret, that the body is verified as received, and that no proxy removes headers.',
  ],
  [
    403,
    'A firewall, a proxy or a login refused the request. Let requests to the callback URL through: their signature authenticates them.',
  ],
  [
    404,
    'The path does not exist. Deploy the receiver at this path, or pass the right URL to `updateWebhookSubscription`.',
  ],
  [405, 'The path does not accept POST. Add a route for POST, or pass the right URL to `updateWebhookSubscription`.'],
  [
    409,
    'The receiver still processes an earlier attempt of this delivery. A later attempt succeeds once that has ended; make the handler shorter if this repeats.',
  ],
  [
    410,
    'The receiver says that it is gone, which pauses a subscription. Restore it, then call `resumeWebhookSubscription`, or pass another callback URL to `updateWebhookSubscription`.',
  ],
  [413, 'The receiver or a proxy limits the size of the body. Allow at least 300 kB.'],
  [429, 'The receiver limits its requests. Raise the limit for this URL.'],
  [
    502,
    'A proxy in front of the receiver got no valid response from it. Check that the receiver runs, and the log of the proxy.',
  ],
  [503, 'The receiver, or a proxy in front of it, is unavailable.'],
  [504, 'A proxy in front of the receiver waited too long for it. Store the event, respond, and process it later.'],
]);

function byClass(status: number): string {
  if (status >= 300 && status < 400)
    return 'The callback URL redirects, which Deedwire does not follow. Pass the final URL to `updateWebhookSubscription`.';
  if (status >= 500)
    return 'The receiver failed. See its log at `startedAt`, and fix the error. Deedwire retries while the delivery is PENDING.';
  if (status >= 400)
    return 'The receiver rejected the request. See its log at `startedAt`, and respond with 2xx once the event is stored.';
  return 'Only a final status of 2xx acknowledges a delivery. See what responds at the callback URL.';
}

function aboutRetryAfter(status: number, detail: string | null): string {
  if (detail === 'RETRY_AFTER_IGNORED')
    return ' Its `Retry-After` is neither seconds nor a date, so Deedwire ignored it.';
  if (status === 429 || status === 503)
    return ' If the response has a valid `Retry-After`, Deedwire waits as long as it asks, at most 12 hours.';
  return '';
}

/**
 * What the owner of a receiver can do about an attempt. Null if it succeeded. At most 250 characters. It claims nothing that is not
 * known to have happened.
 */
export function adviceFor({ responseStatus, error, detail }: ShownAttemptResult): string | null {
  if (error !== null) return byError[error];
  if (responseStatus === null || (responseStatus >= 200 && responseStatus < 300)) return null;
  const advice = byStatus.get(responseStatus) ?? byClass(responseStatus);
  return advice + aboutRetryAfter(responseStatus, detail);
}
