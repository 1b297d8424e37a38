import { type AccountId, type EventId, type SubscriptionId, type LaneId, type Shard, shardOf } from '../kernel/ids.ts';

/** The position of an entry in the queue. Drawn from one sequence for all shards; well below 2^53. */
export type QueuePosition = number;

/** An entry of webhook_event_queue. One of the ids is not null. */
export interface QueueEntry {
  readonly position: QueuePosition;
  readonly eventId: EventId | null;
  readonly subscriptionId: SubscriptionId | null;
  /** How many workers claimed the entry and died before they finished it. */
  readonly claims: number;
  /** This process has counted its claim. */
  readonly isCounted: boolean;
}

/** An entry that was claimed this often may have ended its processes. It runs in a separate round. */
const claimsToIsolate = 3;

/** An entry that was claimed this often fails. */
const claimsMax = 5;

export function mustRunIsolated(entry: QueueEntry): boolean {
  return entry.claims >= claimsToIsolate;
}

export function isGivenUp(entry: QueueEntry): boolean {
  return entry.claims >= claimsMax;
}

/** What this process knows of an account: see `Accounts`. Its entries are in storage. */
export class QueuedAccount {
  readonly id: AccountId;
  readonly shard: Shard;
  /** The last position that was fanned out. */
  after: QueuePosition = 0;
  /** What `after` was at the last poll, and at the one before. Reads of an account that rests start after the latter. */
  polledAfter: QueuePosition = 0;
  readAfter: QueuePosition = 0;
  /** It has an entry directly after this position, which is before `after`: it was committed or unblocked late. */
  early: QueuePosition = Infinity;
  /** The account may have further entries. */
  hasMore = false;
  /** It had further entries when its last rounds ended. */
  hadMore = false;
  /** It has so many entries that its position is remembered. */
  isFrequent = false;
  /** How often its shard was woken before the account was read. */
  wakes = 0;
  /** The lanes have enough to send, and the account has waited for them. Its next turn comes whatever they have. */
  isDue = false;
  /** The shard was removed. */
  isRemoved = false;
  /** Lanes that get deliveries if a write whose outcome is unknown is executed late. */
  readonly uncertainLanes: LaneId[] = [];

  constructor(id: AccountId) {
    this.id = id;
    this.shard = shardOf(id);
  }
}

/** The entries that one account has in a round, in order. */
export interface Turn {
  readonly account: QueuedAccount;
  readonly entries: readonly QueueEntry[];
}
