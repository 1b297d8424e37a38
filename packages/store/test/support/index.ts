/** What the tests of an application use of ours. */
export { createServiceDatabase, withStore } from './database.ts';
export { explain, indexes, rowsRead, scanned } from './explain.ts';
export { grantedRights, rightsOf } from '../../src/migrations/rights.ts';
export { testRights } from './rights.ts';
export { accountOfRow, fixture, rowFixturesOf } from './row-fixtures.ts';
export { testRowSecurity } from './row-security.ts';
export { placedWithoutSample, type TestedService, withoutSample } from './tested-services.ts';
