/** What the tests of an application use of ours. */
export { createMigratedDatabase, createServiceDatabase } from './database.ts';
export { explain, indexes, rowsRead, scanned } from './explain.ts';
export { sample, type TestedService, withoutSample } from './tested-services.ts';
