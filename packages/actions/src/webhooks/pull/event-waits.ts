import type { AccountId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { type SubscriptionId, pgArray } from '@deedwire/webhooks/tables';
import { selectAdvanced } from './statements.ts';

/** A request that waits for the next event of a subscription. */
export interface EventWait {
  accountId: AccountId;
  subscriptionId: SubscriptionId;
  /** The last number that the client knows. */
  after: number;
  /** The longest wait. */
  ms: number;
  /** Ends the wait. */
  signal: AbortSignal;
}

/** The requests of a process that wait for events. They share one statement, and hold no connection to the database. */
export interface EventWaits {
  /**
   * Resolves when the subscription has a later event, within a second after it is deleted, when the time is over, or when the signal
   * or `close` ends the wait. At once if too many requests wait. Never rejects.
   */
  wait(wait: EventWait): Promise<void>;
  /** How many requests wait. */
  count(): number;
  /** Ends all waits. Later ones end at once. */
  close(): void;
}

/** The most requests that wait, of an account and of the process. */
const [perAccount, perProcess] = [10, 500];

const intervalMs = 200;

/** Of so many statements, one looks for deleted subscriptions. */
const pollsPerDeleted = 5;

interface Waiter extends EventWait {
  end: () => void;
}

/** @param database of the process, because a client must not make the others wait */
export function createEventWaits({ database }: { database: Database }): EventWaits {
  const waiters = new Set<Waiter>();
  const ofAccounts = new Map<AccountId, number>();
  /** What the statement asks for, until the waiters change. */
  let asked: readonly [subscriptionIds: string, after: string] | null = null;
  let isPolling = false;
  let isClosed = false;
  let polls = 0;

  function changeCount(accountId: AccountId, by: 1 | -1): void {
    const count = (ofAccounts.get(accountId) ?? 0) + by;
    if (count === 0) ofAccounts.delete(accountId);
    else ofAccounts.set(accountId, count);
    asked = null;
  }

  function ask(): readonly [string, string] {
    const lowest = new Map<SubscriptionId, number>();
    for (const { subscriptionId, after } of waiters) {
      lowest.set(subscriptionId, Math.min(after, lowest.get(subscriptionId) ?? after));
    }
    return [pgArray([...lowest.keys()]), pgArray([...lowest.values()])];
  }

  /** Every request was read before it began to wait, and each statement sees all that was committed since, so none is forgotten. */
  async function poll(): Promise<void> {
    const startMs = performance.now();
    asked ??= ask();
    polls += 1;
    try {
      // Few subscriptions are deleted, and to find them doubles what the statement reads.
      const advanced = await selectAdvanced(database, ...asked, polls % pollsPerDeleted === 0);
      if (advanced.size > 0)
        for (const waiter of waiters) if ((advanced.get(waiter.subscriptionId) ?? 0) > waiter.after) waiter.end();
    } catch {
      // The store reports it. The requests wait until it works again, or fail when they read their page.
    }
    pollIn(Math.max(0, intervalMs - (performance.now() - startMs)));
  }

  function pollIn(ms: number): void {
    isPolling = waiters.size > 0;
    if (isPolling) setTimeout(() => void (waiters.size > 0 ? poll() : pollIn(0)), ms);
  }

  return {
    wait({ ...wait }) {
      const { accountId, signal } = wait;
      const hasRoom = waiters.size < perProcess && (ofAccounts.get(accountId) ?? 0) < perAccount;
      if (isClosed || signal.aborted || !hasRoom) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(end, wait.ms);
      const waiter: Waiter = { ...wait, end };
      function end(): void {
        if (!waiters.delete(waiter)) return;
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        changeCount(accountId, -1);
        resolve();
      }
      waiters.add(waiter);
      changeCount(accountId, 1);
      signal.addEventListener('abort', end);
      if (!isPolling) pollIn(intervalMs);
      return promise;
    },
    count: () => waiters.size,
    close() {
      isClosed = true;
      for (const waiter of waiters) waiter.end();
    },
  };
}
