// Errors, secrets at rest, and memory.
export {
  AccountAwayError,
  CellMismatchError,
  GidNamespaceMismatchError,
  LockTimeoutError,
  messageOf,
  MigrationBlockedError,
  MigrationChangedError,
  MigrationMissingError,
  ObjectsOfAppsError,
  PublicationError,
  ServiceConflictError,
  StatementTimeoutError,
  StoreUnavailableError,
  UnconfirmedCommitError,
  UnsuitableDatabaseError,
} from './kernel/errors.ts';
export { type LockHolder, type MigrationWait, onNewWait } from './kernel/migration-wait.ts';
export {
  createSecretKeyRing,
  secretKeyId,
  type SecretKeyRing,
  SecretUnreadableError,
} from './kernel/secret-key-ring.ts';
export { ShortLivedMap } from './kernel/short-lived-map.ts';

// Connections.
export { DatabaseAccessError, toAccessError } from './connections/access-error.ts';
export {
  type ConnectionProtection,
  connectionProtection,
  databaseAddress,
  DatabaseUrlError,
} from './connections/connection-options.ts';
export type { PoolState } from './connections/kept-clients.ts';
export { withSchema } from './connections/search-path.ts';
export { withTableLock } from './connections/table-lock.ts';
export { backgroundTimeouts, type DatabaseTimeouts, requestTimeouts } from './connections/timeouts.ts';

// Statements.
export { type Database, firstRow, onlyRow, sql, type Statement, type Transaction } from './statements/database.ts';
export { pageConditions, type PageQuery } from './statements/page-query.ts';
export { beginInIndexOrder, type Planning } from './statements/planning.ts';
export type { SlowStatement } from './statements/slow-statements.ts';

// Transactions.
export { violatesPrimaryKey } from './transactions/record-id-collision.ts';
export {
  type InsertedRow,
  insertRow,
  type SharedWrite,
  type WriteResult,
} from './transactions/shared-writes/row-set.ts';
export { createStore, type PooledStore, type Store, type StoreOptions } from './transactions/store.ts';

// The data of persons.
export { vacuumTables } from './persons/vacuum.ts';

// Migrations, and the rights that they grant.
export { findUnregistered } from './migrations/find-unregistered.ts';
export { applyMigrations, migrate, type Migrated, type MigrateOptions } from './migrations/migrate.ts';
export { readMigrations } from './migrations/read-migrations.ts';
export { grantsToApplication } from './migrations/application-grants.ts';
export { describeAbsentRoles, findAbsentRoles } from './migrations/absent-roles.ts';
export { type GroupRole, groupRolesOf, selectGroupRoles, selectRolePrefix } from './migrations/group-roles.ts';
export {
  defaultPlaceOf,
  findUsedSchema,
  type PlaceOptions,
  placesWithTables,
  schemaVariable,
} from './migrations/find-place.ts';
export { createLoginSql, selectLoginPlace } from './migrations/rights.ts';

// Copies of a database.
export {
  type AdvancedSequence,
  advanceSequences,
  drawNumbers,
  selectSequences,
  type SequenceState,
} from './copies/sequences.ts';

// Cells.
export { type CellSession, withCellSession } from './cells/cell-session.ts';

// Checks of the database.
export {
  checkDatabase,
  type DatabaseCheck,
  describeDatabaseCheck,
  describeDatabaseProblems,
  describeUnavailable,
  describeLostStatements,
  findDatabaseProblems,
  findLostStatements,
} from './checks/check-database.ts';
export {
  type ChangedCollation,
  type DatabaseRisk,
  findCertificateRisk,
  findDatabaseRisks,
  selectChangedCollations,
} from './checks/database-risks.ts';
export { findOtherNamespace } from './checks/find-other-namespace.ts';
export { findServiceProblems } from './checks/find-service-problems.ts';
export { findUnprotectedTables } from './checks/find-unprotected-tables.ts';
export { findOpenFunctions } from './checks/open-functions.ts';
export { tryGrowth } from './checks/try-growth.ts';
