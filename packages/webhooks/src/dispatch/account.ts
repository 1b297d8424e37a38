import type { AccountId } from '../kernel/ids.ts';
import { type Shard, shardOf } from '../kernel/shard.ts';
import { SlotAccount } from './slots.ts';

/** An account with lanes in the memory of this process. */
export class Account extends SlotAccount {
  readonly id: AccountId;
  readonly shard: Shard;
  /** How many lanes of this account are in memory. */
  lanes = 0;
  /** How many deliveries wait in the queues of its lanes. Written by `Memory` only. */
  queued = 0;

  constructor(id: AccountId) {
    super();
    this.id = id;
    this.shard = shardOf(id);
  }
}
