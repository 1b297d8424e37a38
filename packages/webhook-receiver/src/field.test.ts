import { expect, test } from 'vitest';
import { messageOf } from './field.ts';

test('the message of a connection to a name names the failure of each address', () => {
  const errors = ['127.0.0.1', '::1'].map((address) => new Error(`connect ECONNREFUSED ${address}:4005`));
  expect(messageOf(new AggregateError(errors, ''))).toBe(
    'connect ECONNREFUSED 127.0.0.1:4005; connect ECONNREFUSED ::1:4005',
  );
  expect([new AggregateError(errors, '2 of 2 jobs failed.'), new Error('c'), 'd', null].map(messageOf)).toEqual([
    '2 of 2 jobs failed.',
    'c',
    'd',
    'null',
  ]);
});
