import type { AttemptErrorClass } from '@deedwire/webhook-sender';

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
