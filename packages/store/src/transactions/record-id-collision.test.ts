import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { drawnKeys, isRecordIdCollision, retryRecordIdCollisions, violatesPrimaryKey } from './record-id-collision.ts';

function databaseError(code: string, constraint?: string): DatabaseError {
  return Object.assign(new DatabaseError('message', 7, 'error'), { code, constraint });
}

test.each([
  ['the primary key of a record', databaseError('23505', 'customer_order_pkey'), true],
  ['the primary key of a partition', databaseError('23505', 'webhook_delivery_20261101_pkey'), true],
  ['the primary key of a record whose id is not drawn', databaseError('23505', 'api_key_pkey'), false],
  ['another unique constraint', databaseError('23505', 'customer_order_number'), false],
  ['a unique violation without a constraint', databaseError('23505'), false],
  ['another error that names the constraint', databaseError('23503', 'customer_order_pkey'), false],
  ['another error', new Error('duplicate key value violates unique constraint "customer_order_pkey"'), false],
])('%s', (_, error, isCollision) => {
  expect(isRecordIdCollision(error, drawnKeys(['customer_order']))).toBe(isCollision);
});

test('does not run the work again after another error', async () => {
  let runs = 0;
  const error = databaseError('23505', 'customer_order_number');
  const work = async (): Promise<void> => {
    runs += 1;
    throw error;
  };
  await expect(retryRecordIdCollisions(work, drawnKeys())).rejects.toBe(error);
  expect(runs).toBe(1);
});

test.each([
  ['the table', databaseError('23505', 'webhook_attempt_pkey'), true],
  ['a partition of it', databaseError('23505', 'webhook_attempt_20261101_pkey'), true],
  ['another table', databaseError('23505', 'webhook_delivery_20261101_pkey'), false],
  ['another constraint', databaseError('23503', 'webhook_attempt_pkey'), false],
])('knows a violation of the primary key: %s', (_, error, isViolation) => {
  expect(violatesPrimaryKey(error, 'webhook_attempt')).toBe(isViolation);
});
