import type { AccountId } from './ids.ts';

/** 0 to 63. One worker at a time owns a shard: only that worker fans out and sends for the accounts in it. */
export type Shard = number;

export const shardCount = 64;

/** The shard of an account never changes: it is the lowest six bits of the account's id. */
export function shardOf(accountId: AccountId): Shard {
  return Number(BigInt(accountId) & BigInt(shardCount - 1));
}
