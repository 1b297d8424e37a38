export { runOperator, type OperatorResult } from '../run-operator.ts';
export { createMigratedDatabase } from './database.ts';
export { createHarness, type Harness, type TestAccount, type TestAccounts } from './harness.ts';
export { raiseLimit } from './raise-limit.ts';
export { startTestSystem, type TestSystem } from './test-system.ts';
