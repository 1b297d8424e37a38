import { expect, test } from 'vitest';
import { errorMessage } from './input-error.ts';

test('the message of a connection to a name names the failure of each address', () => {
  const errors = ['127.0.0.1', '::1'].map((address) => new Error(`connect ECONNREFUSED ${address}:4000`));
  expect(errorMessage(new AggregateError(errors, ''))).toBe(
    'connect ECONNREFUSED 127.0.0.1:4000; connect ECONNREFUSED ::1:4000',
  );
  expect([new AggregateError(errors, 'two problems'), new Error('c'), 'd'].map(errorMessage)).toEqual([
    'two problems',
    'c',
    'd',
  ]);
});
