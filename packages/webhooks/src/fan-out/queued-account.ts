import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import { OwnClaims } from '../kernel/own-claims.ts';
import { type Shard, shardOf } from '../kernel/shard.ts';
import { EntryList } from './entry-list.ts';
import { isOpenChange, mustRunIsolated, type QueueEntry, type QueuePosition } from './queue-entry.ts';

/** Express rounds serve accounts with at most this many entries. */
const expressEntriesMax = 4;

/** What an account needs next. */
export type AccountNeed = 'nothing' | 'change' | 'isolated' | 'express' | 'bulk';

/** The queue of one account in this process. */
export class QueuedAccount {
  readonly id: AccountId;
  readonly shard: Shard;
  readonly waiting = new EntryList();
  /** Entries that are in a round, or whose change is being applied. */
  claimed = 0;
  /** A round or a change of the account is in progress, so no other starts. */
  isBusy = false;
  /** The account backs off: nothing starts before a timer ends. */
  isPaused = false;
  /** The shard was removed. */
  isRemoved = false;
  /** The last round of the account found a locked row. */
  isLocked = false;
  /** Rounds that failed since the last one that was written. */
  failures = 0;
  /** How often the account was passed over because its lanes have enough to send. */
  passedOver = 0;
  /** Entries from this position on are unread: in storage only. Null if all are in memory. */
  unreadFrom: QueuePosition | null = null;
  /** Incremented when entries are dropped. Results of earlier reads are then ignored from `unreadFrom` on. */
  epoch = 0;
  /** The positions of changes that are in memory whatever is unread. */
  readonly earlyChanges = new Set<QueuePosition>();
  /** Of entries that are not finished. */
  readonly ownClaims = new OwnClaims<QueuePosition>();
  /** Lanes that may have deliveries from a write of unknown outcome. */
  readonly uncertainLanes = new Map<SubscriptionId, LaneId>();
  /** The last position that the account had when its last round started. */
  #backlogThrough: QueuePosition = 0;

  constructor(id: AccountId) {
    this.id = id;
    this.shard = shardOf(id);
  }

  /** How many entries are in memory. */
  get size(): number {
    return this.waiting.size + this.claimed;
  }

  get need(): AccountNeed {
    const { first } = this.waiting;
    if (first === undefined) return 'nothing';
    if (isOpenChange(first)) return 'change';
    if (this.isLocked || mustRunIsolated(first)) return 'isolated';
    const isShort = this.waiting.size <= expressEntriesMax && this.unreadFrom === null;
    // The rest of a backlog must not delay the first events of other accounts.
    return isShort && first.position > this.#backlogThrough ? 'express' : 'bulk';
  }

  /** Removes and returns the first entry of a round. */
  startRound(): QueueEntry | undefined {
    const { last } = this.waiting;
    const entry = this.waiting.removeFirst();
    if (last === undefined) return undefined;
    this.#backlogThrough = last.position;
    this.isBusy = true;
    return entry;
  }

  /** Call it when a round or a change of the account has ended. */
  ended(): void {
    this.isBusy = false;
  }

  /** The position of the first waiting entry, in memory or unread. Infinity if there is none. */
  get nextPosition(): QueuePosition {
    return Math.min(this.waiting.first?.position ?? Infinity, this.unreadFrom ?? Infinity);
  }

  get isUnused(): boolean {
    return this.size === 0 && !this.isBusy && !this.isPaused && this.unreadFrom === null;
  }
}
