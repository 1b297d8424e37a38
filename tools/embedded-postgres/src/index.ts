export { withClient } from './database.ts';
export { enableTls } from './database.ts';
export { freezeServer, freezeSessions, terminateBackends } from './database.ts';
export { findFreePort } from './free-port.ts';
export { createLogin } from './database.ts';
export { ownDataDirectory, spawnAsOwner } from './server-account.ts';
export { startPostgres, type PostgresServer, type StartPostgresOptions } from './start-postgres.ts';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.ts';
export { fastTemporaryFolder } from './temporary-folder.ts';
