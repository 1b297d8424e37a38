import { StoreUnavailableError } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';
import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import type { OnFanOutEvent } from './events.ts';
import type { KnownEntries } from './known-entries.ts';
import { isOpenChange, type QueueEntry } from './queue-entry.ts';
import type { QueuedAccount } from './queued-account.ts';

export interface ChangeApplierOptions {
  known: KnownEntries;
  onSubscriptionChanged: (change: LaneId) => Promise<void>;
  /** Examines the blocked entries of the account. */
  examine: (account: AccountId) => void;
  pause: (accounts: readonly QueuedAccount[]) => void;
  onFenced: () => void;
  onEvent: OnFanOutEvent;
}

/** An account may have any number of changes, and each reads its subscription. */
const changesTogether = 64;

/**
 * Applies the changes of subscriptions that are first in the queue of their account. A later round deletes their entries,
 * or blocks them if they cannot be applied.
 */
export class ChangeApplier {
  readonly #options: ChangeApplierOptions;

  constructor(options: ChangeApplierOptions) {
    this.#options = options;
  }

  /** Claims the first changes at the head of the account's queue. The account becomes busy. */
  claim(account: QueuedAccount): QueueEntry[] {
    account.isBusy = true;
    const changes: QueueEntry[] = [];
    for (let { first } = account.waiting; first !== undefined && isOpenChange(first); { first } = account.waiting) {
      if (changes.length >= changesTogether) break;
      changes.push(first);
      account.waiting.removeFirst();
      account.claimed += 1;
    }
    return changes;
  }

  /** Never rejects. */
  async apply(account: QueuedAccount, changes: readonly QueueEntry[]): Promise<void> {
    const { known, examine, pause, onFenced, onEvent } = this.#options;
    const subscriptions = new Set(changes.flatMap(({ subscriptionId }) => subscriptionId ?? []));
    const failed = new Map<SubscriptionId, unknown>();
    await Promise.all([...subscriptions].map((id) => this.#applyOne(account, id, failed)));
    const errors = [...failed.values()];
    if (errors.some((error) => error instanceof FencedOutError)) {
      known.restore(account, changes);
      // A worker that was declared dead may already have registered under a new id.
      if (!account.isRemoved) onFenced();
      return;
    }
    const unavailable = errors.find((error) => error instanceof StoreUnavailableError);
    if (unavailable !== undefined) {
      onEvent({ kind: 'fan-out-unavailable', call: 'change', error: unavailable });
      known.restore(account, changes);
      account.failures += 1;
      return pause([account]);
    }
    for (const change of changes) {
      if (change.subscriptionId !== null && failed.has(change.subscriptionId)) change.isRefused = true;
      else change.isApplied = true;
    }
    for (const [subscription, error] of failed) onEvent({ kind: 'change-failed', alarm: true, subscription, error });
    known.restore(account, changes);
    examine(account.id);
  }

  async #applyOne(
    account: QueuedAccount,
    subscriptionId: SubscriptionId,
    failed: Map<SubscriptionId, unknown>,
  ): Promise<void> {
    try {
      await this.#options.onSubscriptionChanged({ subscriptionId, accountId: account.id });
    } catch (error) {
      failed.set(subscriptionId, error);
    }
  }
}
