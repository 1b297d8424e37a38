import type { QueueEntry } from './queue-entry.ts';

/** Why an entry cannot be fanned out now. */
export interface BlockReason {
  /** Null if the database refused the entry, or a change of a subscription could not be applied. */
  readonly eventType: string | null;
  /** The subscription that the entry is for. Null if it is for all of them. */
  readonly subscriptionId: QueueEntry['subscriptionId'];
}

interface BlockedGroup {
  readonly reason: BlockReason;
  readonly entries: QueueEntry[];
}

/**
 * The entries of an account that wait for another build, or for another attempt after a minute. Later entries overtake
 * them.
 */
export class BlockedEntries {
  readonly #groups = new Map<string, BlockedGroup>();
  size = 0;

  add(entry: QueueEntry, eventType: string | null): void {
    const key = `${entry.subscriptionId ?? ''} ${eventType ?? ''}`;
    const group = this.#groups.get(key);
    if (group !== undefined) group.entries.push(entry);
    else {
      const reason = { eventType, subscriptionId: entry.subscriptionId };
      this.#groups.set(key, { reason, entries: [entry] });
    }
    this.size += 1;
  }

  /** Removes and returns the entries whose reason `mayGoOn` accepts, in the order of their positions. */
  release(mayGoOn: (reason: BlockReason) => boolean): QueueEntry[] {
    const released: QueueEntry[] = [];
    for (const [key, { reason, entries }] of this.#groups) {
      if (!mayGoOn(reason)) continue;
      for (const entry of entries) released.push(entry);
      this.#groups.delete(key);
    }
    this.size -= released.length;
    return released.toSorted((a, b) => a.position - b.position);
  }
}
