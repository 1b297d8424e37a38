import {
  type AttemptCause,
  type AttemptErrorClass,
  describeCause,
  describeInterceptor,
  isAttemptCause,
  isInterceptor,
} from '@deedwire/webhook-sender';

/** The result of an attempt, as clients and operators see it. */
export interface ShownAttemptResult {
  responseStatus: number | null;
  error: ShownAttemptError | null;
  /** As it is stored: of a newer build, it can be unknown. */
  detail: string | null;
  /** Whether a longer timeout of the subscription can help. */
  needsLonger?: boolean;
}

/** By the class of the failure, whatever the status: the response was not complete. For failures without a known cause. */
const byError: Readonly<Record<ShownAttemptError, string>> = {
  ADDRESS_FORBIDDEN:
    'The callback URL is no longer allowed. Change the callback URL of the subscription; if the new one is not allowed either, the message states why.',
  CONNECTION_FAILED:
    'No connection, or it was closed before the response was complete. Check that the server runs, that a firewall lets the port through, and its log at the time of the attempt.',
  DNS_FAILED:
    'No public address of the host name was found. Restore its A or AAAA record, remove private addresses from its public DNS records, and check its name servers.',
  PROTOCOL_ERROR:
    'No valid response of HTTP/1.1 was received. Check which server listens on the port, and remove large headers, such as cookies, from the response.',
  RENDERING_FAILED:
    'Deedwire could not render the payload and sent no request, so your receiver is not the cause. Report the identifier of the delivery, and read the record with a query.',
  TIMEOUT:
    'The complete response did not arrive within the timeout of the subscription. Store the event, respond at once, and process it later.',
  TLS_FAILED:
    'No TLS connection: for example, the certificate is not valid for the host, or the server does not support TLS 1.2. Set the callback URL of the subscription again: the message of a failed handshake states the cause.',
};

const respondSooner = 'Store the event, respond at once, and process it later.';
const waitLonger = 'If it cannot, and the timeout of the subscription is below 15 seconds, raise it.';
const setHeader = 'Or set the header that a gateway expects.';
const seeLog = 'See its log at the time of the attempt.';
const checkTls = 'Check that it supports TLS 1.2 or later on this port.';

/** What the owner of the receiver can do, for causes whose description does not say it. */
const remedies: Readonly<Partial<Record<AttemptCause, string>>> = {
  TLS_CLOSED: checkTls,
  TLS_NOT_COMPLETED: checkTls,
  NO_RESPONSE: respondSooner,
  BODY_NOT_ENDED: respondSooner,
  CLOSED: seeLog,
  RESPONSE_RESET: seeLog,
  REQUEST_NOT_SENT: 'Your receiver is not the cause. Report the identifier of the delivery.',
};

function byCause(cause: AttemptCause, responseStatus: number | null): string {
  const description = describeCause(cause, 'the receiver', responseStatus);
  const sentence = description.charAt(0).toUpperCase() + description.slice(1);
  return [sentence, remedies[cause]].filter((each) => each !== undefined).join(' ');
}

/** By status, for those with their own cause. */
const byStatus: ReadonlyMap<number, string> = new Map([
  [
    400,
    'The receiver rejected the request. See its log at the time of the attempt. If the response has a code, look it up under "What a receiver responds" in "A webhook did not arrive".',
  ],
  [
    401,
    `The receiver did not accept the signature, or a login protects the URL. Check the secret, and that no proxy changes the request. ${setHeader}`,
  ],
  [
    403,
    `A firewall, proxy, login or CSRF check refused the request. Let it through: its signature authenticates it. ${setHeader}`,
  ],
  [404, 'The path does not exist. Deploy the receiver at this path, or correct the callback URL of the subscription.'],
  [405, 'The path does not accept POST. Add a route for POST, or correct the callback URL of the subscription.'],
  [
    409,
    'The receiver still processes an earlier attempt of this delivery. A later attempt succeeds once that has ended; make the handler shorter if this repeats.',
  ],
  [
    410,
    'The receiver says that it is gone, which pauses a subscription. Restore it and resume the subscription, or change its callback URL.',
  ],
  [413, 'The receiver or a proxy limits the size of the body. Allow at least 300 kB.'],
  [429, 'The receiver limits its requests. Raise the limit for this URL.'],
  [
    502,
    'A proxy in front of the receiver got no valid response from it. Check that the receiver runs, and the log of the proxy.',
  ],
  [
    503,
    'The receiver, or a proxy in front of it, is unavailable. Check that the receiver runs, and find in the log of the proxy why it does not reach it.',
  ],
  [504, 'A proxy in front of the receiver waited too long for it. Store the event, respond, and process it later.'],
]);

function byClass(status: number): string {
  if (status >= 300 && status < 400)
    return 'The callback URL redirects, which Deedwire does not follow. Make the final URL the callback URL of the subscription.';
  if (status >= 500)
    return 'The receiver failed. See its log at the time of the attempt, and fix the error. Deedwire makes up to 15 attempts in about three days.';
  if (status >= 400)
    return 'The receiver rejected the request. See its log at the time of the attempt, and respond with 2xx once the event is stored.';
  return 'Only a final status of 2xx acknowledges a delivery. See what responds at the callback URL.';
}

/**
 * What the owner of a receiver can do about an attempt. Null if it succeeded. At most 250 characters. It claims nothing that is not
 * known to have happened.
 */
export function adviceFor({ responseStatus, error, detail, needsLonger = false }: ShownAttemptResult): string | null {
  if (error !== null) {
    const advice = detail !== null && isAttemptCause(detail) ? byCause(detail, responseStatus) : byError[error];
    return needsLonger ? `${advice} ${waitLonger}` : advice;
  }
  if (responseStatus === null || (responseStatus >= 200 && responseStatus < 300)) return null;
  if (detail !== null && isInterceptor(detail))
    return detail === 'SIGN_IN' ? `${describeInterceptor(detail)} ${setHeader}` : describeInterceptor(detail);
  const advice = byStatus.get(responseStatus) ?? byClass(responseStatus);
  // A valid one is not stored with the attempt. The delay of the delivery says how long Deedwire waits because of it.
  if (detail !== 'RETRY_AFTER_IGNORED') return advice;
  return `${advice} Its \`Retry-After\` is neither seconds nor a date, so Deedwire ignored it.`;
}

/** Why an attempt received no complete response, as clients and operators see it: the values of `WebhookAttemptError`. */
export const shownAttemptErrors = [
  'ADDRESS_FORBIDDEN',
  'CONNECTION_FAILED',
  'DNS_FAILED',
  'PROTOCOL_ERROR',
  'RENDERING_FAILED',
  'TIMEOUT',
  'TLS_FAILED',
] as const;

export type ShownAttemptError = (typeof shownAttemptErrors)[number];

/**
 * By the text that is stored with an attempt: a class of the sender, or `RENDERING_FAILED` if there was no valid payload to
 * send. Earlier builds stored `ADDRESS_FORBIDDEN` for names with a private address. It is shown like any other failure of DNS,
 * so that it does not tell which names exist in the internal DNS.
 */
const shownByStored: Readonly<Record<AttemptErrorClass | 'ADDRESS_FORBIDDEN' | 'RENDERING_FAILED', ShownAttemptError>> =
  {
    ADDRESS_FORBIDDEN: 'DNS_FAILED',
    CONNECTION_FAILED: 'CONNECTION_FAILED',
    DNS_FAILED: 'DNS_FAILED',
    PROTOCOL_ERROR: 'PROTOCOL_ERROR',
    RENDERING_FAILED: 'RENDERING_FAILED',
    TIMEOUT: 'TIMEOUT',
    TLS_FAILED: 'TLS_FAILED',
    URL_FORBIDDEN: 'ADDRESS_FORBIDDEN',
  };

const shown: ReadonlyMap<string, ShownAttemptError> = new Map(Object.entries(shownByStored));

/** A newer build may have stored a class that this build does not know. It is shown as the most general one. */
export function toShownAttemptError(stored: string): ShownAttemptError {
  return shown.get(stored) ?? 'PROTOCOL_ERROR';
}
