import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { QueuedAccount } from './queued-account.ts';
import type { PickedEntry } from './round-plan.ts';
import type { Turn } from './turns.ts';

/** Lists the entries of a round by turns: the first of each account, the second of each account, and so on. */
export function byTurns(turns: readonly Turn[]): PickedEntry[] {
  const picked: PickedEntry[] = [];
  let open = turns;
  for (let index = 0; open.length > 0; index += 1) {
    const next: Turn[] = [];
    for (const turn of open) {
      const entry = turn.entries[index];
      if (entry === undefined) continue;
      picked.push({ account: turn.account, entry });
      next.push(turn);
    }
    open = next;
  }
  return picked;
}

/** The inverse of `byTurns`. */
export function entriesOf(picked: readonly PickedEntry[]): Turn[] {
  const entries = new Map<QueuedAccount, QueueEntry[]>();
  for (const { account, entry } of picked) {
    const found = entries.get(account);
    if (found === undefined) entries.set(account, [entry]);
    else found.push(entry);
  }
  return Array.from(entries, ([account, ofAccount]) => ({ account, entries: ofAccount }));
}

export function halve<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}

/**
 * Splits a round before the entry that would exceed `deliveriesMax`, if every subscription received every event of its
 * account. The first part has at least one entry.
 */
export function firstDeliveries(
  picked: readonly PickedEntry[],
  pins: ReadonlyMap<AccountId, AccountPins>,
  deliveriesMax: number,
): [first: readonly PickedEntry[], further: readonly PickedEntry[]] {
  let deliveries = 0;
  for (const [index, { account, entry }] of picked.entries()) {
    if (deliveries >= deliveriesMax) return [picked.slice(0, index), picked.slice(index)];
    deliveries += entry.subscriptionId === null ? (pins.get(account.id)?.subscriptions.length ?? 0) : 1;
  }
  return [picked, []];
}
