import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import { shardOf } from './ids.ts';

test.each([
  ['1', 1],
  ['64', 0],
  ['127', 63],
  ['9223372036854775807', 63],
  ['9007199254740993', 1],
])('account %s belongs to shard %i', (accountId, shard) => {
  expect(shardOf(toRecordId<'Account'>(accountId))).toBe(shard);
});
