export { callOperator, callOperatorWith, type OperatorResult } from '../../src/call-operator.ts';
export { otherKey } from '../../src/account-key.ts';
export { createMigratedDatabase } from './database.ts';
export { createHarness, type Harness } from './harness.ts';
export { createTestAccounts, raiseLimit } from './test-accounts.ts';
export { joinSharedSystem, type SharedSystem } from './shared-system.ts';
export { type TestAccount, type TestAccounts } from './test-accounts.ts';
export { startTestSystem, type TestSystem, type TestSystemOptions } from './test-system.ts';
export type { Seeding } from '../../src/seed.ts';
