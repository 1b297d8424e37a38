export {
  checkDatabase,
  type DatabaseCheck,
  describeDatabaseCheck,
  describeDatabaseProblems,
  describeLostStatements,
  findDatabaseProblems,
  findLostStatements,
} from './check-database.ts';
export { type CellSession, withCellSession } from './cell-session.ts';
export {
  connectionProtection,
  databaseAddress,
  DatabaseUrlError,
  type ConnectionProtection,
} from './connection-options.ts';
export { type Database, firstRow, onlyRow, sql, type Statement, type Transaction } from './database.ts';
export {
  type ChangedCollation,
  type DatabaseRisk,
  findCertificateRisk,
  findDatabaseRisks,
  selectChangedCollations,
} from './database-risks.ts';
export { violatesPrimaryKey } from './record-id-collision.ts';
export {
  AccountAwayError,
  CellMismatchError,
  LockTimeoutError,
  messageOf,
  MigrationBlockedError,
  MigrationChangedError,
  MigrationMissingError,
  ObjectsOfAppsError,
  PublicationError,
  StatementTimeoutError,
  StoreUnavailableError,
  UnconfirmedCommitError,
  UnsuitableDatabaseError,
} from './errors.ts';
export { applyMigrations, migrate, type MigrateOptions, readMigrations } from './migrate.ts';
export { type LockHolder, type MigrationWait, onNewWait } from './migration-wait.ts';
export { pageConditions, type PageQuery } from './page-query.ts';
export { beginInIndexOrder, type Planning } from './planning.ts';
export { createLoginSql, type GroupRole, groupRolesOf, selectDatabaseName } from './rights.ts';
export { createSecretKeyRing, secretKeyId, SecretUnreadableError, type SecretKeyRing } from './secret-key-ring.ts';
export {
  advanceSequences,
  type AdvancedSequence,
  drawNumbers,
  selectSequences,
  type SequenceState,
} from './sequences.ts';
export { type InsertedRow, insertRow, type SharedWrite, type WriteResult } from './shared-writes/row-set.ts';
export { ShortLivedMap } from './short-lived-map.ts';
export type { SlowStatement } from './slow-statements.ts';
export type { PoolState } from './kept-clients.ts';
export { createStore, type PooledStore, type Store, type StoreOptions } from './store.ts';
export { withTableLock } from './table-lock.ts';
export { tryGrowth } from './try-growth.ts';
export { backgroundTimeouts, requestTimeouts, type DatabaseTimeouts } from './timeouts.ts';
export { vacuumTables } from './vacuum.ts';
