import { storedAttemptErrors, type AttemptRow, type StoredAttemptError } from '@deedwire/webhooks/deliveries';

/** `WebhookAttempt`. */
export interface WebhookAttempt {
  /** Starts at 1. */
  number: number;
  startedAt: Date;
  durationMs: number;
  /** Null if no response was received. */
  responseStatus: number | null;
  /** Null if a complete response was received. */
  error: StoredAttemptError | null;
}

export function toWebhookAttempt(row: AttemptRow): WebhookAttempt {
  return {
    number: row.number,
    startedAt: row.startedAt,
    durationMs: row.durationMs,
    responseStatus: row.responseStatus,
    error: row.error === null ? null : toErrorClass(row.error),
  };
}

/** A newer build may have written an error class that this build does not know. Clients see the most general one instead. */
function toErrorClass(text: string): StoredAttemptError {
  return storedAttemptErrors.find((known) => known === text) ?? 'PROTOCOL_ERROR';
}
