import type { Shard } from '../kernel/ids.ts';
import { OwnClaims } from '../kernel/own-claims.ts';
import type { QueueEntry, QueuePosition } from './queued-account.ts';

interface RecoveringShard {
  /** The last position at the takeover. Null until it was read. */
  through: QueuePosition | null;
  readonly ownClaims: OwnClaims<QueuePosition>;
}

/** The entries that a worker left when it died. One of them may have ended it, so their claims are counted. */
export class Recovery {
  readonly #shards = new Map<Shard, RecoveringShard>();

  get isPositionMissing(): boolean {
    return [...this.#shards.values()].some(({ through }) => through === null);
  }

  add(shard: Shard): void {
    this.#shards.set(shard, { through: null, ownClaims: new OwnClaims() });
  }

  /** @param last the last position that was drawn */
  begin(last: QueuePosition): void {
    for (const recovering of this.#shards.values()) recovering.through ??= last;
  }

  /** No entry from before the takeover is left, or the shard was removed. */
  end(shard: Shard): void {
    this.#shards.delete(shard);
  }

  isRecovering(shard: Shard): boolean {
    return this.#shards.has(shard);
  }

  /** Whether the position is from before the takeover. */
  isOld(shard: Shard, position: QueuePosition): boolean {
    const recovering = this.#shards.get(shard);
    return recovering !== undefined && position <= (recovering.through ?? Infinity);
  }

  /** Entries that were read, with the claims of other processes. */
  withoutOwn(shard: Shard, entries: readonly QueueEntry[]): readonly QueueEntry[] {
    const own = this.#shards.get(shard)?.ownClaims;
    if (own === undefined) return entries;
    return entries.map((entry) => {
      const claims = own.without(entry.position, entry.claims);
      return { ...entry, claims, isCounted: claims < entry.claims };
    });
  }

  mustCount(shard: Shard, { position, isCounted }: QueueEntry): boolean {
    return !isCounted && this.isOld(shard, position);
  }

  /** Call it before the claim is counted. The outcome may be unknown. */
  counting(shard: Shard, { position, claims }: QueueEntry): void {
    this.#shards.get(shard)?.ownClaims.count(position, claims);
  }

  /** The entry is deleted or blocked. */
  finished(shard: Shard, { position }: QueueEntry): void {
    this.#shards.get(shard)?.ownClaims.forget(position);
  }
}
