import { isOpenChange, mustRunIsolated, type QueueEntry } from './queue-entry.ts';
import type { QueuedAccount } from './queued-account.ts';

/** The entries that one account has in a round, in order. */
export interface Turn {
  readonly account: QueuedAccount;
  readonly entries: QueueEntry[];
}

/** An account that was passed over this often gets a turn although its lanes have enough to send. */
export const passedOverMax = 50;

/**
 * The approximate number of deliveries of a turn in a bulk round. Its entries share what a round does for each account, for example
 * the update of the sequence of a subscription.
 */
const bulkTurnWeight = 8;

/**
 * Chooses the entries of a round. Accounts take turns (round-robin) and continue where the last round ended. A turn is one entry, in
 * a bulk round about 8 deliveries. A round with room for more has further turns, of one entry each.
 *
 * | list          | accounts                                      | claimed by                           |
 * | ------------- | --------------------------------------------- | ------------------------------------ |
 * | `changes`     | the first entry is a change of a subscription | `claimChange`                        |
 * | `isolated`    | the first entry needs a separate round        | `claimIsolated`                      |
 * | `express`     | few entries, none left over by a round        | `claimExpress`, `claimBulk`          |
 * | `bulk`        | other                                         | `claimBulk`                          |
 * | `passed over` | the lanes have enough to send                 | `retryPassedOver`, into a list above |
 *
 * An account is in one list at a time, and in none while it is in a round, backs off or has no entries.
 */
export class Turns {
  readonly #express = new Set<QueuedAccount>();
  readonly #bulk = new Set<QueuedAccount>();
  readonly #isolated = new Set<QueuedAccount>();
  readonly #changes = new Set<QueuedAccount>();
  readonly #passedOver = new Set<QueuedAccount>();
  readonly #isBehind: (account: QueuedAccount) => boolean;

  constructor(isBehind: (account: QueuedAccount) => boolean) {
    this.#isBehind = isBehind;
  }

  get hasExpress(): boolean {
    return this.#express.size > 0;
  }

  get hasBulk(): boolean {
    return this.#bulk.size > 0 || this.#express.size > 0;
  }

  get hasIsolated(): boolean {
    return this.#isolated.size > 0;
  }

  get hasPassedOver(): boolean {
    return this.#passedOver.size > 0;
  }

  /** Puts the account into the list for its next need. An account that stays in its list keeps its place. */
  place(account: QueuedAccount): void {
    const list = this.#listFor(account);
    if (list?.has(account)) return;
    this.remove(account);
    list?.add(account);
  }

  remove(account: QueuedAccount): void {
    this.#express.delete(account);
    this.#bulk.delete(account);
    this.#isolated.delete(account);
    this.#changes.delete(account);
    this.#passedOver.delete(account);
  }

  /** Returns an account whose first entry is a change, or undefined. */
  claimChange(): QueuedAccount | undefined {
    const account = first(this.#changes);
    if (account !== undefined) this.#changes.delete(account);
    return account;
  }

  /** Claims one entry of one account. */
  claimIsolated(): Turn[] {
    return this.#claim([this.#isolated], () => Infinity, 1, 1);
  }

  claimExpress(weightOf: (account: QueuedAccount) => number, weightMax: number): Turn[] {
    return this.#claim([this.#express], weightOf, weightMax, 1);
  }

  claimBulk(weightOf: (account: QueuedAccount) => number, weightMax: number): Turn[] {
    return this.#claim([this.#bulk, this.#express], weightOf, weightMax, bulkTurnWeight);
  }

  /**
   * Gives a turn to accounts that were passed over, once their lanes need more or they were passed over 50 times. Call it
   * every 5 ms.
   */
  retryPassedOver(): void {
    for (const account of this.#passedOver) {
      account.passedOver += 1;
      if (account.passedOver < passedOverMax && this.#isBehind(account)) continue;
      this.#passedOver.delete(account);
      account.passedOver = passedOverMax;
      this.place(account);
    }
  }

  #claim(
    lists: readonly Set<QueuedAccount>[],
    weightOf: (account: QueuedAccount) => number,
    weightMax: number,
    turnWeight: number,
  ): Turn[] {
    const turns: Turn[] = [];
    let weight = 0;
    for (const list of lists) {
      for (const account of list) {
        if (weight >= weightMax) return turns;
        list.delete(account);
        if (account.passedOver < passedOverMax && this.#isBehind(account)) {
          this.#passedOver.add(account);
          continue;
        }
        const entry = account.startRound();
        if (entry === undefined) continue;
        account.passedOver = 0;
        account.claimed += 1;
        const turn: Turn = { account, entries: [entry] };
        turns.push(turn);
        const each = weightOf(account);
        weight += each;
        for (let taken = each; taken < turnWeight && weight < weightMax && addEntry(turn); taken += each)
          weight += each;
      }
    }
    for (let open = turns; open.length > 0 && weight < weightMax;) {
      const next: Turn[] = [];
      for (const turn of open) {
        if (weight >= weightMax) return turns;
        if (!addEntry(turn)) continue;
        weight += weightOf(turn.account);
        next.push(turn);
      }
      open = next;
    }
    return turns;
  }

  #listFor(account: QueuedAccount): Set<QueuedAccount> | null {
    if (account.isBusy || account.isPaused || account.isRemoved) return null;
    const { need } = account;
    if (need === 'nothing') return null;
    if (need === 'change') return this.#changes;
    if (this.#passedOver.has(account)) return this.#passedOver;
    if (need === 'isolated') return this.#isolated;
    return need === 'express' ? this.#express : this.#bulk;
  }
}

/** Adds the next entry of the account, unless it needs something else than this round. */
function addEntry({ account, entries }: Turn): boolean {
  const { first: head } = account.waiting;
  if (head === undefined || isOpenChange(head) || mustRunIsolated(head)) return false;
  entries.push(head);
  account.waiting.removeFirst();
  account.claimed += 1;
  return true;
}

function first<Value>(values: Iterable<Value>): Value | undefined {
  for (const value of values) return value;
  return undefined;
}
