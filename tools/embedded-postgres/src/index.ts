export { createLogin, enableTls, freezeServer, freezeSessions, terminateBackends, withClient } from './database.ts';
export { findFreePort } from './free-port.ts';
export { ownDataDirectory, spawnAsOwner } from './server-account.ts';
export { startPostgres, type PostgresServer, type StartPostgresOptions } from './start-postgres.ts';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.ts';
export { fastTemporaryFolder } from './temporary-folder.ts';
