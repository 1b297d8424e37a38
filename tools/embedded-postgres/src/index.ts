export { createLogin, enableTls, freezeServer, freezeSessions, terminateBackends, withClient } from './database.ts';
export { findFreePort, isPortFree } from './free-port.ts';
export { ownDataDirectory, spawnAsOwner } from './server-account.ts';
export { startPostgres, type PostgresServer } from './start-postgres.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { fastTemporaryFolder } from './temporary-folder.ts';
