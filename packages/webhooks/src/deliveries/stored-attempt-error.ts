import type { AttemptErrorClass } from '@deedwire/webhook-sender';

/**
 * Why an attempt received no complete response, as stored with the attempt: a class of the sender, or `RENDERING_FAILED` if
 * there was no valid payload to send.
 */
export type StoredAttemptError = AttemptErrorClass | 'RENDERING_FAILED';

export const storedAttemptErrors = [
  'ADDRESS_FORBIDDEN',
  'CONNECTION_FAILED',
  'DNS_FAILED',
  'PROTOCOL_ERROR',
  'RENDERING_FAILED',
  'TIMEOUT',
  'TLS_FAILED',
] as const satisfies readonly StoredAttemptError[];
