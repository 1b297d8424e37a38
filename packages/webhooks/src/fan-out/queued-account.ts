import type { LaneId } from '../dispatch/lane-registry.ts';
import type { AccountId, SubscriptionId } from '../ids.ts';
import { type Shard, shardOf } from '../shard.ts';
import { BlockedEntries } from './blocked-entries.ts';
import { EntryList } from './entry-list.ts';
import { isOpenChange, mustRunIsolated, type QueuePosition } from './queue-entry.ts';

/** An account whose first entries are at most this many is served by express rounds. */
const expressEntriesMax = 4;

/** What an account needs next. */
export type AccountNeed = 'nothing' | 'change' | 'isolated' | 'express' | 'bulk';

/** The entries of one account that this process knows. */
export class QueuedAccount {
  readonly id: AccountId;
  readonly shard: Shard;
  readonly waiting = new EntryList();
  readonly blocked = new BlockedEntries();
  /** Entries of the account that are in a round, or whose change is being applied. */
  claimed = 0;
  /** A round or a change of the account is in progress. Nothing else of the account starts. */
  isBusy = false;
  /** Nothing of the account starts before a timer ends. */
  isPaused = false;
  /** The shard was removed. */
  isRemoved = false;
  /** The last round of the account met a locked row. */
  isLocked = false;
  /** Rounds that failed since the last one that was written. */
  failures = 0;
  /** It had more entries than its last round took. Written by `ended` only. The rest of a backlog must not delay the first events of other accounts. */
  hasBacklog = false;
  /** How often the account was passed over because its lanes have enough to send. */
  passedOver = 0;
  /** Entries from this position on are in storage only. Null if all are known. */
  unreadFrom: QueuePosition | null = null;
  /** Incremented when entries are forgotten. What a read that started before returns from `unreadFrom` on is ignored. */
  epoch = 0;
  /** Lanes whose deliveries a write of unknown outcome may have added. */
  readonly uncertainLanes = new Map<SubscriptionId, LaneId>();

  constructor(id: AccountId) {
    this.id = id;
    this.shard = shardOf(id);
  }

  /** How many entries are in memory. */
  get size(): number {
    return this.waiting.size + this.claimed + this.blocked.size;
  }

  get need(): AccountNeed {
    const { first } = this.waiting;
    if (first === undefined) return 'nothing';
    if (isOpenChange(first)) return 'change';
    if (this.isLocked || mustRunIsolated(first)) return 'isolated';
    const isShort = this.waiting.size <= expressEntriesMax && this.unreadFrom === null;
    return isShort && !this.hasBacklog ? 'express' : 'bulk';
  }

  /** A round or a change of the account has ended. */
  ended(): void {
    this.isBusy = false;
    this.hasBacklog = this.waiting.size > 0;
  }

  /** The first entry that waits. Infinity if none does. */
  get nextPosition(): QueuePosition {
    return Math.min(this.waiting.first?.position ?? Infinity, this.unreadFrom ?? Infinity);
  }

  get isUnused(): boolean {
    return this.size === 0 && !this.isBusy && !this.isPaused && this.unreadFrom === null;
  }
}
