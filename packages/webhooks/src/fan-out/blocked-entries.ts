import type { Store } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountId } from '../kernel/ids.ts';
import { type Shard, shardOf } from '../kernel/shard.ts';
import type { OnFanOutEvent } from './events.ts';
import type { QueueRow } from './known-entries.ts';
import type { FanOutLimits } from './limits.ts';
import { mayGoOn } from './may-go-on.ts';
import type { PinsCache } from './pins-cache.ts';
import type { QueuePosition } from './queue-entry.ts';
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
  clock: Pick<Clock, 'setTimer'>;
  workerId: () => WorkerId;
  renderer: Renderer;
  pins: PinsCache;
  limits: FanOutLimits;
  /** Whether the account has few enough entries in memory to add some that are unblocked. */
  hasRoom: (account: AccountId) => boolean;
  /** These entries of one account are no longer blocked. */
  onUnblocked: (rows: readonly QueueRow[]) => void;
  /** A write of unknown outcome may have unblocked entries of the shard. */
  onUncertain: (shard: Shard) => void;
  onFenced: () => void;
  onEvent: OnFanOutEvent;
}

/** Finds groups that can be fanned out now. */
interface FindJob {
  readonly kind: 'find';
  readonly shard: Shard;
  /** Null for all accounts of the shard. */
  readonly account: AccountId | null;
  readonly after: BlockedGroup | null;
}

interface UnblockJob {
  readonly kind: 'unblock';
  readonly shard: Shard;
  readonly account: AccountId;
  readonly groups: readonly BlockedGroup[];
  readonly after: QueuePosition;
  /** How many entries were unblocked, for the log. */
  readonly count: number;
}

type Job = { readonly kind: 'count' } | FindJob | UnblockJob;

/** How many groups one statement reads. */
const groupsPerRead = 200;

/** Each shard counts up to this many, so that counting takes a bounded time. */
const countMax = 1_000_000;

/** Accounts and types of which an alarm was raised. Beyond this number, alarms may repeat. */
const reportedMax = 10_000;

/**
 * The entries in storage that this process cannot fan out. They are not in memory, and no read of the queue returns them.
 *
 * They are examined when the shard is acquired, when a subscription of the account changes, and after
 * `FanOutLimits.blockedMs`. Those that can be fanned out are unblocked in batches, one account after the other, while the
 * account has few entries in memory. All statements run one after the other on one connection.
 */
export class BlockedEntries {
  readonly #options: BlockedEntriesOptions;
  /** The blocked entries of each shard that the process owns, when they were last counted. */
  readonly #counts = new Map<Shard, number>();
  /** The shards to examine if they have blocked entries. */
  readonly #unexamined = new Set<Shard>();
  /** In the order of execution. A job replaces an equal one. */
  readonly #jobs = new Map<string, Job>();
  readonly #reported = new Set<string>();
  readonly #backoff = new Backoff();
  #running: Promise<void> | null = null;
  #cancelPause: (() => void) | null = null;
  #isStopped = false;

  constructor(options: BlockedEntriesOptions) {
    this.#options = options;
  }

  /** How many entries of the shards of this process are blocked. At most 1,000,000 of each shard are counted. */
  get count(): number {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return sum;
  }

  add(shard: Shard): void {
    this.#counts.set(shard, 0);
    this.#unexamined.add(shard);
    this.recount();
  }

  /** Resolves once no statement that writes is in progress. */
  async remove(shard: Shard): Promise<void> {
    this.#counts.delete(shard);
    await this.#running;
  }

  /** Examines the entries of all shards. */
  examineAll(): void {
    for (const shard of this.#counts.keys()) this.#unexamined.add(shard);
    this.recount();
  }

  /** Examines the entries of the account, because one of its subscriptions has changed. */
  examine(account: AccountId): void {
    this.#put({ kind: 'find', shard: shardOf(account), account, after: null });
  }

  recount(): void {
    if (this.#counts.size > 0) this.#put({ kind: 'count' });
  }

  /** Raises an alarm for each account and event type that had no blocked entries before. */
  report(entries: Iterable<Pick<BlockedGroup, 'accountId' | 'blockedOn'>>): void {
    for (const { accountId, blockedOn } of entries) {
      const key = reportKey(accountId, blockedOn);
      if (blockedOn === blockedOnRefusal || this.#reported.has(key)) continue;
      if (this.#reported.size >= reportedMax) this.#reported.clear();
      this.#reported.add(key);
      this.#options.onEvent({ kind: 'entries-blocked', alarm: true, account: accountId, eventType: blockedOn });
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPause?.();
    await this.#running;
  }

  #put(job: Job): void {
    this.#jobs.set(jobKey(job), job);
    this.#runNext();
  }

  /** Continues the running job after the others. */
  #continueLater(job: Job): void {
    this.#jobs.set(jobKey(job), job);
  }

  #runNext(): void {
    if (this.#isStopped || this.#running !== null || this.#cancelPause !== null) return;
    for (const [key, job] of this.#jobs) {
      this.#jobs.delete(key);
      if (job.kind !== 'count' && !this.#counts.has(job.shard)) continue;
      this.#running = this.#run(job).finally(() => {
        this.#running = null;
        this.#runNext();
      });
      return;
    }
  }

  /** Never rejects. */
  async #run(job: Job): Promise<void> {
    const { limits, onUncertain, onFenced, onEvent } = this.#options;
    try {
      if (job.kind === 'count') await this.#count();
      else if (job.kind === 'find') await this.#find(job);
      else if (await this.#unblock(job)) this.#pause(limits.unblockPauseMs);
      if (this.#backoff.reset()) onEvent({ kind: 'loop-resumed', loop: 'unblock' });
    } catch (error) {
      const isOwned = job.kind === 'count' || this.#counts.has(job.shard);
      if (error instanceof FencedOutError) {
        if (isOwned) onFenced();
        return;
      }
      onEvent({ kind: 'fan-out-unavailable', call: 'unblock', error });
      if (job.kind === 'unblock' && isOwned) onUncertain(job.shard);
      this.#continueLater(job);
      this.#pause(this.#backoff.next());
    }
  }

  async #count(): Promise<void> {
    const shards = [...this.#counts.keys()];
    const counts = await countBlocked(this.#options.store, shards, countMax);
    for (const shard of shards) {
      if (!this.#counts.has(shard)) continue;
      const count = counts.get(shard) ?? 0;
      this.#counts.set(shard, count);
      if (this.#unexamined.delete(shard) && count > 0) this.#put({ kind: 'find', shard, account: null, after: null });
    }
  }

  async #find(job: FindJob): Promise<void> {
    const { store, pins, renderer } = this.#options;
    const { shard, account, after } = job;
    const groups = await selectBlockedGroups(store, shard, account, after, groupsPerRead);
    const pinsOf = await pins.get([...new Set(groups.map(({ accountId }) => accountId))]);
    const ready = groups.filter((group) => mayGoOn(group, pinsOf.get(group.accountId), renderer));
    for (const [accountId, ofAccount] of Map.groupBy(ready, (group) => group.accountId)) {
      const found: UnblockJob = { kind: 'unblock', shard, account: accountId, groups: ofAccount, after: 0, count: 0 };
      const replaced = this.#jobs.get(jobKey(found));
      this.#put(replaced?.kind === 'unblock' ? { ...found, count: replaced.count } : found);
    }
    const last = groups.at(-1);
    if (last !== undefined && groups.length === groupsPerRead) this.#put({ ...job, after: last });
  }

  /** Returns whether entries are left. */
  async #unblock(job: UnblockJob): Promise<boolean> {
    const { store, workerId, limits, hasRoom, onUnblocked, onEvent } = this.#options;
    const { shard, account, groups } = job;
    if (!hasRoom(account)) {
      this.#continueLater(job);
      return true;
    }
    const positions = await selectBlocked(store, shard, account, groups, job.after, limits.unblockedTogether);
    const rows = positions.length === 0 ? [] : await unblockEntries(store, workerId(), shard, positions);
    const count = job.count + rows.length;
    for (const { blockedOn } of groups) this.#reported.delete(reportKey(account, blockedOn));
    if (rows.length > 0 && this.#counts.has(shard)) onUnblocked(rows);
    const last = positions.at(-1);
    if (last !== undefined && positions.length === limits.unblockedTogether) {
      this.#continueLater({ ...job, after: last, count });
      return true;
    }
    if (count > 0) onEvent({ kind: 'entries-unblocked', account, count });
    return false;
  }

  #pause(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancelPause = this.#options.clock.setTimer(() => {
      this.#cancelPause = null;
      this.#runNext();
    }, delayMs);
  }
}

function jobKey(job: Job): string {
  if (job.kind === 'count') return 'count';
  if (job.kind === 'find') return `find ${job.shard} ${job.account ?? ''}`;
  const [first] = job.groups;
  return `unblock ${job.account} ${first?.blockedOn ?? ''} ${first?.subscriptionId ?? ''}`;
}

function reportKey(account: AccountId, blockedOn: string): string {
  return `${account} ${blockedOn}`;
}
