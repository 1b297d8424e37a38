export { createDatabase, dropDatabase, urlOf, withClient } from './database.ts';
export { findFreePort, isPortFree } from './free-port.ts';
export { findBinaries } from './server-process.ts';
export { type PostgresServer, startPostgres } from './start-postgres.ts';
