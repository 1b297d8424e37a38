export { terminateBackends } from './faults.ts';
export { startPostgres, type PostgresServer, type StartPostgresOptions } from './start-postgres.ts';
export { createDatabase, dropDatabase } from './database.ts';
export { createTestDatabase, postgresUrl, type DatabaseRole, type TestDatabase } from './test-database.ts';
