/** Timeouts of a store for tests that are not about timeouts. On a busy machine any connection or statement can be slow. */
export const patientTimeouts = {
  connectMs: 120_000,
  statementMs: 120_000,
  lockMs: 120_000,
  idleInTransactionMs: 120_000,
};
