export { describeDatabaseProblems } from './describe-database-problems.ts';
export {
  CellMismatchError,
  LockTimeoutError,
  MigrationChangedError,
  MigrationMissingError,
  StoreUnavailableError,
} from './errors.ts';
export { migrate } from './migrate.ts';
export { keysetConditions, type PageQuery } from './page-query.ts';
export { beginInIndexOrder, type Planning } from './planning.ts';
export { createSecretKeyRing, SecretUnreadableError, type SecretKeyRing } from './secret-key-ring.ts';
export { type Session, type SessionOptions, withSession } from './session.ts';
export type { SlowStatement, SlowStatementOptions } from './slow-statements.ts';
export {
  createStore,
  firstRow,
  onlyRow,
  type Database,
  type Statement,
  type Store,
  type StoreOptions,
  type Transaction,
} from './store.ts';
export { backgroundTimeouts, requestTimeouts, type DatabaseTimeouts } from './timeouts.ts';
