import type { Store } from '@deedwire/store';
import type { OnFanOutEvent } from '../events.ts';
import { FencedOutError, type WorkerId } from '../fence/fence.ts';
import { Backoff } from '../kernel/clock.ts';
import { type AccountId, type Shard, shardOf } from '../kernel/ids.ts';
import { readPins } from '../subscriptions/read-pins.ts';
import { canContinue } from './can-continue.ts';
import type { FanOutLimits } from './limits.ts';
import type { Renderer } from './renderer.ts';
import {
  type BlockedGroup,
  blockedOnRefusal,
  countBlocked,
  selectBlocked,
  selectBlockedGroups,
  unblockEntries,
} from './sql/blocked-queue.ts';

export interface BlockedEntriesOptions {
  store: Store;
  workerId: () => WorkerId;
  renderer: Renderer;
  limits: FanOutLimits;
  /** Resolves after this time, or as soon as fan-out stops. */
  wait: (delayMs: number) => Promise<unknown>;
  /** Entries of the account may no longer be blocked. */
  onUnblocked: (account: AccountId) => void;
  onFenced: () => void;
  onEvent: OnFanOutEvent;
}

/** Runs at most one statement that writes. Returns whether to run it again, after the other jobs. */
type Job = (workerId: WorkerId) => Promise<boolean>;

/** How many groups one statement reads. */
const groupsPerRead = 200;

/** Each shard counts up to this many, so that counting takes a bounded time. */
const countMax = 1_000_000;

/** Accounts and types of which an alarm was raised. Beyond this number, alarms may repeat. */
const reportedMax = 10_000;

/**
 * The entries that this process cannot fan out. No read of the queue returns them.
 *
 * They are examined when the shard is acquired, when a subscription of the account changes, and after
 * `FanOutLimits.blockedMs`. Those that can be fanned out are unblocked in batches. Jobs take turns, one statement at a time.
 */
export class BlockedEntries {
  readonly #options: BlockedEntriesOptions;
  /** The blocked entries of each shard that the process owns, when they were last counted. */
  readonly #counts = new Map<Shard, number>();
  readonly #jobs = new Map<string, Job>();
  readonly #reported = new Set<string>();
  readonly #backoff = new Backoff();
  #running: Promise<void> | null = null;
  #isStopped = false;
  /** The statement in progress. */
  #statement: Promise<unknown> = Promise.resolve();

  constructor(options: BlockedEntriesOptions) {
    this.#options = options;
  }

  /** How many entries of the shards of this process are blocked. At most 1,000,000 of each shard are counted. */
  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  add(shard: Shard): void {
    this.#counts.set(shard, 0);
    this.recount(true);
  }

  /** Resolves once no statement that writes is in progress. */
  async remove(shard: Shard): Promise<void> {
    this.#counts.delete(shard);
    await this.#statement;
  }

  /** Counts the entries of all shards. @param examines whether to examine those that have some */
  recount(examines = false): void {
    if (this.#counts.size > 0) this.#put(examines ? 'examine' : 'count', () => this.#count(examines));
  }

  /** Examines the entries of the account, because one of its subscriptions has changed. */
  examine(account: AccountId): void {
    this.#find(shardOf(account), account);
  }

  /** Raises an alarm if the account had no entries that are blocked on this before. */
  report(account: AccountId, blockedOn: string): void {
    const key = `${account} ${blockedOn}`;
    if (blockedOn === blockedOnRefusal || this.#reported.has(key)) return;
    if (this.#reported.size >= reportedMax) this.#reported.clear();
    this.#reported.add(key);
    this.#options.onEvent({ kind: 'entries-blocked', alarm: true, account, eventType: blockedOn });
  }

  /** Starts no further statement. Resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  #put(key: string, job: Job): void {
    this.#jobs.set(key, job);
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  async #run(): Promise<void> {
    const { workerId, limits, wait, onFenced, onEvent } = this.#options;
    for (let [next] = this.#jobs; next !== undefined && !this.#isStopped; [next] = this.#jobs) {
      const [key, job] = next;
      this.#jobs.delete(key);
      const id = workerId();
      let repeatMs: number | null = null;
      try {
        const running = job(id);
        this.#statement = running.catch(() => {});
        if (await running) repeatMs = limits.unblockPauseMs;
        if (this.#backoff.reset()) onEvent({ kind: 'loop-resumed', loop: 'unblock' });
      } catch (error) {
        if (!(error instanceof FencedOutError)) {
          onEvent({ kind: 'fan-out-unavailable', call: 'unblock', error });
          repeatMs = this.#backoff.next();
        } else if (id === workerId()) onFenced(); // Otherwise it has registered under a new id.
      }
      if (repeatMs === null) continue;
      if (!this.#jobs.has(key)) this.#jobs.set(key, job);
      await wait(repeatMs);
    }
  }

  async #count(examines: boolean): Promise<boolean> {
    const counts = await countBlocked(this.#options.store, [...this.#counts.keys()], countMax);
    for (const shard of this.#counts.keys()) {
      const count = counts.get(shard) ?? 0;
      this.#counts.set(shard, count);
      if (examines && count > 0) this.#find(shard, null);
    }
    return false;
  }

  #find(shard: Shard, account: AccountId | null): void {
    const { store, renderer } = this.#options;
    let after: BlockedGroup | null = null;
    this.#put(`find ${shard} ${account ?? ''}`, async () => {
      if (!this.#counts.has(shard)) return false;
      const groups = await selectBlockedGroups(store, shard, account, after, groupsPerRead);
      const pins = await readPins(store, [...new Set(groups.map(({ accountId }) => accountId))]);
      const ready = groups.filter((group) => canContinue(group, pins.get(group.accountId), renderer));
      for (const [id, ofAccount] of Map.groupBy(ready, ({ accountId }) => accountId))
        this.#unblock(shard, id, ofAccount);
      after = groups.at(-1) ?? null;
      return groups.length === groupsPerRead;
    });
  }

  #unblock(shard: Shard, account: AccountId, groups: readonly BlockedGroup[]): void {
    const { store, limits, onUnblocked, onEvent } = this.#options;
    const key = `unblock ${account} ${groups.map((group) => `${group.blockedOn} ${group.subscriptionId}`).join()}`;
    if (this.#jobs.has(key)) return;
    let after = 0;
    let total = 0;
    this.#put(key, async (workerId) => {
      if (!this.#counts.has(shard)) return false;
      const positions = await selectBlocked(store, shard, account, groups, after, limits.unblockedTogether);
      for (const group of groups) this.#reported.delete(`${account} ${group.blockedOn}`);
      try {
        if (positions.length > 0) total += await unblockEntries(store, workerId, account, positions);
      } finally {
        // The outcome of a write that failed may be unknown.
        onUnblocked(account);
      }
      after = positions.at(-1) ?? after;
      if (positions.length === limits.unblockedTogether) return true;
      if (total > 0) onEvent({ kind: 'entries-unblocked', account, count: total });
      return false;
    });
  }
}
