/** What the tests of an application use of ours. */
export { createMigratedDatabase } from './database.ts';
export { explain, indexes, rowsRead, scanned } from './explain.ts';
