import type { Statement, Transaction } from '@deedwire/store';

// Other statements wait behind this transaction for as long as it waits for a lock.
const setLockTimeout: Statement = { name: 'set-lock-timeout', text: `set local lock_timeout = '100ms'` };
const createPartitionsStatement: Statement = {
  name: 'create-partitions',
  text: 'call webhook_create_partitions($1)',
};

/** Creates the missing partitions from yesterday to `daysAhead` days from today, by the database clock. */
export async function createPartitions(transaction: Transaction, daysAhead: number): Promise<void> {
  await transaction.query(setLockTimeout, []);
  await transaction.query(createPartitionsStatement, [daysAhead]);
}
