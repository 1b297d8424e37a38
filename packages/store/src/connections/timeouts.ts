import type { SessionSettings } from './session-settings.ts';

/** How long an app waits for the database, in milliseconds. The server enforces all but the first. */
export interface DatabaseTimeouts {
  /** For a free connection of the pool, or for a new one. */
  connectMs: number;
  /** For a statement, including its wait for locks. */
  statementMs: number;
  /** For a lock. */
  lockMs: number;
  /**
   * For the next statement of a transaction. The locks of a process that is stopped or unreachable must not outlive its
   * leases (15 s), so the server ends its transaction.
   */
  idleInTransactionMs: number;
}

/** For the worker and for operators. */
export const backgroundTimeouts: DatabaseTimeouts = {
  connectMs: 3_000,
  statementMs: 10_000,
  lockMs: 8_000,
  idleInTransactionMs: 10_000,
};

/** How much longer than the server the client waits, so that usually the server ends a slow statement. */
const responseGraceFactor = 1.2;

/** For an app that must respond within `totalMs` while the database does not: 2/5 for a connection, 3/5 for a statement. */
export function requestTimeouts(totalMs: number): DatabaseTimeouts {
  return {
    connectMs: Math.round(totalMs * 0.4),
    statementMs: Math.round((totalMs * 0.6) / responseGraceFactor),
    lockMs: Math.round(totalMs * 0.4),
    idleInTransactionMs: backgroundTimeouts.idleInTransactionMs,
  };
}

/** The settings by which the server enforces the timeouts. */
export function timeoutSettings({ statementMs, lockMs, idleInTransactionMs }: DatabaseTimeouts): SessionSettings {
  return {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  };
}

/** The client's own limit, for a server or a network that does not respond. */
export function responseTimeoutMs({ statementMs }: DatabaseTimeouts): number {
  return Math.round(statementMs * responseGraceFactor);
}
