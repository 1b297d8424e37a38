import { StoreUnavailableError } from '@deedwire/store';
import type { RoundKind } from '../events.ts';
import { FencedOutError } from '../fence/fence.ts';
import { Backoff, type Clock, Pauses } from '../kernel/clock.ts';
import { type AccountId, type SubscriptionId, type LaneId, type Shard, shardOf } from '../kernel/ids.ts';
import { readPins } from '../subscriptions/read-pins.ts';
import { Accounts, type OwnedShard, turnWeight } from './accounts.ts';
import { BlockedEntries } from './blocked-entries.ts';
import { defaultFanOutLimits, type FanOutLimits } from './limits.ts';
import { PinsCache } from './pins-cache.ts';
import { planStatements } from './plan-statements.ts';
import { mustRunIsolated, type QueuedAccount, type QueueEntry, type Turn } from './queued-account.ts';
import { Recovery } from './recovery.ts';
import { type RoundContext, Rounds } from './rounds.ts';
import { type AccountRead, readAccounts, readLastPosition, readQueue } from './sql/queue.ts';

export interface FanOutOptions extends RoundContext {
  clock: Pick<Clock, 'setTimer'>;
  /** Whether the lanes of the account have enough to send. Its entries then wait, but not for more than 250 ms. */
  isBehind: (accountId: AccountId) => boolean;
  /** A subscription was created, changed, paused, resumed or deleted. May be called again for the same change. */
  onSubscriptionChanged: (change: LaneId) => Promise<void>;
  limits?: Partial<FanOutLimits>;
}

/** Express rounds serve accounts with at most this many entries. */
const expressEntriesMax = 4;

/** How often accounts that wait for their lanes are examined. */
const behindRetryMs = 5;

/** The shortest pause between looks for entries that were passed. */
const checkPauseMs = 20;

/** The maximum number of accounts whose changes are applied at the same time. */
const changesMax = 4;

interface Work {
  /** `held`: accounts that left a round wait. `accounts` are then those that may still be written. */
  readonly kind: RoundKind | 'change' | 'held';
  readonly accounts: readonly QueuedAccount[];
  readonly ended: Promise<void>;
}

/**
 * Turns the queued events of the shards that this process owns into deliveries. The queue is in storage only. A shard that was
 * woken is read; accounts with few entries are written at once, in an express round, and the others take turns in bulk rounds,
 * which read their entries. `Accounts` says of which accounts this process knows more.
 *
 * An account is in one round at a time, and its entries are read when nothing else of it is in progress. What was read is written
 * before the next read, so it needs no copy.
 */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #limits: FanOutLimits;
  readonly #accounts: Accounts;
  /** Changes to apply, by account. */
  readonly #changed = new Map<QueuedAccount, readonly QueueEntry[]>();
  /** Accounts whose first entry may end the process. */
  readonly #isolated = new Set<QueuedAccount>();
  readonly #work = new Set<Work>();
  readonly #recovery = new Recovery();
  readonly #pins: PinsCache;
  readonly #blocked: BlockedEntries;
  readonly #rounds: Rounds;
  readonly #backoff = new Backoff();
  readonly #changeBackoff = new Backoff();
  readonly #pauses: Pauses;
  #reading: Promise<void> | null = null;
  #checking: Promise<void> | null = null;
  #checkedTogether = 1;
  #isRetryPlanned = false;
  #polls = 0;
  #isStopped = false;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#limits = { ...defaultFanOutLimits, ...options.limits };
    const { store, workerId, render: renderer, onEvent } = options;
    const limits = this.#limits;
    this.#pauses = new Pauses(options.clock);
    const wait = (delayMs: number): Promise<boolean> => this.#pauses.wait(delayMs);
    const onFenced = (): void => this.#fenced();
    this.#accounts = new Accounts((account) => options.isBehind(account));
    this.#pins = new PinsCache(
      (accounts) => readPins(store, accounts),
      Math.max(1, Math.round(limits.pinsMaxAgeMs / limits.pollMs)),
    );
    const onUnblocked = (account: AccountId): void => {
      this.#accounts.unblocked(account);
      this.#startNext();
    };
    this.#blocked = new BlockedEntries({ store, workerId, renderer, limits, wait, onUnblocked, onFenced, onEvent });
    this.#rounds = new Rounds({
      ...options,
      onUncertain: (lanes) =>
        options.onUncertain(lanes.filter((lane) => this.#accounts.shards.has(shardOf(lane.accountId)))),
      pins: this.#pins,
      recovery: this.#recovery,
      limits,
      wait,
      onReleased: (accounts) => this.#release(accounts),
      onHeld: (waiting, written) => this.#start('held', written, waiting),
      onBlocked: (account, blockedOn) => this.#blocked.report(account, blockedOn),
      onFenced,
    });
    void this.#poll();
    void this.#countAnew();
  }

  /** Prepares the connections for the first events. Call it when the worker is registered. Never rejects. */
  async prepare(): Promise<void> {
    const { store, workerId, onEvent } = this.#options;
    try {
      await planStatements(store, workerId());
    } catch (error) {
      onEvent({ kind: 'fan-out-unavailable', call: 'prepare', error });
    }
  }

  /** Call it when the lanes of the shards were opened. */
  addShards(shards: readonly { shard: Shard; isRecovering: boolean }[]): void {
    for (const { shard, isRecovering } of shards) {
      if (this.#accounts.shards.has(shard)) continue;
      this.#accounts.add(shard);
      if (isRecovering) this.#recovery.add(shard);
      this.#blocked.add(shard);
    }
    this.#startNext();
  }

  /** How many entries of the shards of this process are blocked, counted every 10 seconds. */
  get blocked(): number {
    return this.#blocked.count;
  }

  /** Returns the shards that still hold entries from before the takeover. */
  recoveringIn(shards: readonly Shard[]): Shard[] {
    return shards.filter((shard) => this.#recovery.isRecovering(shard));
  }

  /** Call it before the shard is released. Resolves once none of its rounds or changes is in progress. */
  async removeShard(shard: Shard): Promise<void> {
    await this.#forget(shard);
    const isOf = (account: QueuedAccount): boolean => account.shard === shard && account.isRemoved;
    const next = (): Work | undefined => [...this.#work].find(({ accounts }) => accounts.some(isOf));
    // A round that ends may leave accounts whose outcome is unknown.
    for (let work = next(); work !== undefined; work = next()) await work.ended;
  }

  /** Stops fan-out of all shards, because the worker was declared dead. Rounds in progress offer nothing. */
  removeAllShards(): void {
    for (const shard of this.#accounts.shards.keys()) void this.#forget(shard);
  }

  /** Reads these shards, or all shards if null. */
  wake(shards: readonly Shard[] | null): void {
    this.#accounts.wake(shards ?? this.#accounts.shards.keys());
    this.#startNext();
  }

  /** Starts no further round or change. Resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pauses.stop();
    await Promise.all([this.#reading, this.#checking, this.#blocked.stop()]);
    while (this.#work.size > 0) await Promise.all(Array.from(this.#work, ({ ended }) => ended));
  }

  #startNext(): void {
    if (this.#isStopped) return;
    this.#startRead();
    if (this.#accounts.toCheck.size > 0) this.#checking ??= this.#check();
    for (const [account, changes] of this.#changed) {
      if (this.#running('change') >= changesMax) break;
      this.#changed.delete(account);
      this.#start('change', [account], this.#applyChanges(account, changes));
    }
    const [suspected] = this.#isolated;
    if (suspected !== undefined && this.#running('isolated') === 0) {
      this.#isolated.delete(suspected);
      this.#start('isolated', [suspected], this.#runTurns('isolated', [suspected]));
    }
    if (this.#running('bulk') === 0) {
      const accounts = this.#accounts.takeTurns(this.#limits.bulkDeliveries, (id) => this.#weightOf(id));
      if (accounts.length > 0) this.#start('bulk', accounts, this.#runTurns('bulk', accounts));
    }
    if (this.#accounts.behind.size > 0) void this.#retryBehind();
  }

  #start(kind: Work['kind'], accounts: readonly QueuedAccount[], run: Promise<void>): void {
    const ended = run.finally(() => {
      this.#work.delete(work);
      this.#startNext();
    });
    const work: Work = { kind, accounts, ended };
    this.#work.add(work);
  }

  #running(kind: Work['kind']): number {
    return [...this.#work].filter((work) => work.kind === kind).length;
  }

  #release(accounts: readonly QueuedAccount[]): void {
    for (const account of accounts) this.#accounts.release(account);
    this.#startNext();
  }

  /** Reads woken shards when no express round is in progress: entries that arrive meanwhile share the next one. */
  #startRead(): void {
    if (this.#reading !== null || this.#running('express') > 0) return;
    if (this.#accounts.size >= this.#limits.accountsMax) return;
    const shards = [...this.#accounts.shards.values()].filter(({ isWoken }) => isWoken);
    if (shards.length === 0) return;
    this.#reading = this.#read(shards).finally(() => {
      this.#reading = null;
      this.#startNext();
    });
  }

  async #read(shards: readonly OwnedShard[]): Promise<void> {
    const { store, onEvent } = this.#options;
    const { accountsPerRead, expressDeliveries } = this.#limits;
    const wakes = new Map(shards.map((owned) => [owned, owned.wakes]));
    for (const owned of shards) owned.isWoken = false;
    const toRead = shards.map((owned) => ({ shard: owned.shard, skips: this.#accounts.skips(owned) }));
    let found: readonly AccountRead[];
    try {
      if (this.#recovery.isPositionMissing) this.#recovery.begin(await readLastPosition(store));
      found = await readQueue(store, toRead, accountsPerRead, expressEntriesMax + 1);
      if (this.#backoff.reset()) onEvent({ kind: 'loop-resumed', loop: 'discover' });
    } catch (error) {
      onEvent({ kind: 'fan-out-unavailable', call: 'discover', error });
      for (const owned of shards) owned.isWoken = true;
      await this.#pauses.wait(this.#backoff.next());
      return;
    }
    if (this.#isStopped) return;
    const isComplete = found.length < accountsPerRead;
    if (!isComplete) for (const owned of shards) owned.isWoken = true;
    const recovering = shards.filter(({ shard }) => this.#recovery.isRecovering(shard));
    if (isComplete) this.#endRecovery(recovering, found);
    const turns: Turn[] = [];
    let weight = 0;
    // An account with changes and events can be found twice.
    for (const read of new Map(found.map((each) => [each.accountId, each])).values()) {
      const owned = this.#accounts.shards.get(shardOf(read.accountId));
      const wakesBefore = owned === undefined ? undefined : wakes.get(owned);
      // The shard was removed meanwhile.
      if (owned === undefined || wakesBefore === undefined) continue;
      const account = this.#accounts.take(owned, read.accountId, wakesBefore);
      const entries = this.#entriesOf(account, read);
      if (entries === null) continue;
      const isShort = entries.length <= expressEntriesMax && weight < expressDeliveries;
      if (isShort && !this.#options.isBehind(account.id)) {
        weight += entries.length * this.#weightOf(account.id);
        turns.push({ account, entries });
      } else {
        account.hasMore = true;
        this.#accounts.release(account);
      }
    }
    if (turns.length === 0) return;
    const accounts = turns.map(({ account }) => account);
    this.#start('express', accounts, this.#rounds.run('express', turns, expressDeliveries));
  }

  /** Returns the entries for a round. Null if the account needs something else first: it then gets it. */
  #entriesOf(account: QueuedAccount, { entries, changes }: AccountRead): readonly QueueEntry[] | null {
    // Entries that were committed or unblocked late: the next read of the account begins before them.
    account.after = Math.min(account.after, (entries[0]?.position ?? Infinity) - 1);
    if (changes.length > 0) {
      this.#pins.drop(account.id);
      account.hasMore = true;
      this.#changed.set(account, changes);
      return null;
    }
    this.#accounts.count(account, entries.length);
    const known = this.#recovery.withoutOwn(account.shard, entries);
    const suspect = known.findIndex(mustRunIsolated);
    if (suspect === -1) return known;
    account.hasMore = true;
    if (suspect > 0) return known.slice(0, suspect);
    this.#isolated.add(account);
    return null;
  }

  /** Runs a round of accounts whose entries were not read. */
  async #runTurns(kind: 'bulk' | 'isolated', accounts: readonly QueuedAccount[]): Promise<void> {
    const { store, onEvent } = this.#options;
    const share = Math.max(turnWeight, this.#limits.bulkDeliveries / accounts.length);
    const toRead = accounts.map((account) => ({
      id: account.id,
      shard: account.shard,
      after: Math.min(account.after, account.early),
      entriesMax: 1 + (kind === 'isolated' ? 1 : Math.ceil(share / this.#weightOf(account.id))),
    }));
    let found: Map<AccountId, AccountRead>;
    try {
      found = new Map((await readAccounts(store, toRead)).map((read) => [read.accountId, read]));
    } catch (error) {
      onEvent({ kind: 'fan-out-unavailable', call: 'discover', error });
      for (const account of accounts) account.hasMore = true;
      await this.#pauses.wait(this.#backoff.next());
      return this.#release(accounts);
    }
    const turns: Turn[] = [];
    for (const [index, account] of accounts.entries()) {
      if (account.isRemoved) continue;
      const { entries: all = [], changes = [] } = found.get(account.id) ?? {};
      // One more than it gets, to know whether there are more.
      const read = { accountId: account.id, entries: all.slice(0, (toRead[index]?.entriesMax ?? 1) - 1), changes };
      account.hasMore = all.length > read.entries.length;
      const isIsolated = kind === 'isolated' && read.changes.length === 0;
      const entries = isIsolated
        ? this.#recovery.withoutOwn(account.shard, read.entries)
        : this.#entriesOf(account, read);
      if (entries !== null) turns.push({ account, entries });
    }
    await this.#rounds.run(kind, turns, this.#limits.bulkDeliveries);
  }

  /** Applies changes, whose order does not matter: each reads the subscription. Then removes them from the queue. */
  async #applyChanges(account: QueuedAccount, changes: readonly QueueEntry[]): Promise<void> {
    const { workerId, onSubscriptionChanged, onEvent } = this.#options;
    const id = workerId();
    const failed = new Map<SubscriptionId, unknown>();
    const subscriptions = new Set(changes.flatMap(({ subscriptionId }) => subscriptionId ?? []));
    const applying = Array.from(subscriptions, (subscriptionId) =>
      onSubscriptionChanged({ subscriptionId, accountId: account.id }).catch((error: unknown) => {
        failed.set(subscriptionId, error);
      }),
    );
    await Promise.all(applying);
    const errors = [...failed.values()];
    const unavailable = errors.find((error) => error instanceof StoreUnavailableError);
    let isFinished = false;
    if (errors.some((error) => error instanceof FencedOutError)) {
      // A worker that was declared dead may already have registered under a new id.
      if (!account.isRemoved) this.#fenced();
    } else if (unavailable !== undefined) onEvent({ kind: 'fan-out-unavailable', call: 'change', error: unavailable });
    else {
      for (const [subscription, error] of failed) onEvent({ kind: 'change-failed', alarm: true, subscription, error });
      const isRefused = ({ subscriptionId: of }: QueueEntry): boolean => of !== null && failed.has(of);
      const applied = changes.filter((change) => !isRefused(change));
      const refused = changes.filter(isRefused);
      isFinished = await this.#rounds.finishChanges(id, account, applied, refused);
    }
    if (!isFinished) await this.#pauses.wait(this.#changeBackoff.next());
    else {
      if (this.#changeBackoff.reset()) onEvent({ kind: 'loop-resumed', loop: 'change' });
      if (failed.size === 0) this.#blocked.examine(account.id);
    }
    this.#release([account]);
  }

  /** The approximate number of deliveries per event of the account. */
  #weightOf(account: AccountId): number {
    return Math.max(1, this.#pins.peek(account)?.subscriptions.length ?? 1);
  }

  /** @param shards those of which all accounts with entries were found, apart from those in memory */
  #endRecovery(shards: readonly OwnedShard[], found: readonly AccountRead[]): void {
    for (const { shard, accounts } of shards) {
      const skipped = [...accounts.values()].filter((account) => !this.#accounts.resting.has(account));
      const first = found.flatMap(({ accountId, entries }) =>
        shardOf(accountId) === shard ? entries.slice(0, 1) : [],
      );
      const left = [...skipped.map(({ after }) => after), ...first.map(({ position }) => position)];
      if (!left.some((position) => this.#recovery.isOld(shard, position))) this.#recovery.end(shard);
    }
  }

  #fenced(): void {
    this.removeAllShards();
    this.#options.onEvent({ kind: 'fan-out-fenced', alarm: true });
  }

  /** Resolves once no entry of the shard is being unblocked. */
  #forget(shard: Shard): Promise<void> {
    this.#recovery.end(shard);
    this.#pins.dropAll((account) => shardOf(account) === shard);
    for (const account of this.#accounts.remove(shard)) {
      this.#changed.delete(account);
      this.#isolated.delete(account);
    }
    return this.#blocked.remove(shard);
  }

  /**
   * Looks for entries that accounts have passed. Nothing waits for it: while an old snapshot keeps deleted entries, it visits all of
   * them, and it may fail. Later polls repeat it.
   */
  async #check(): Promise<void> {
    const { store, onEvent } = this.#options;
    const { toCheck } = this.#accounts;
    const startMs = performance.now();
    const accounts = [...toCheck].slice(0, this.#checkedTogether);
    for (const account of accounts) toCheck.delete(account);
    try {
      const found = await readAccounts(
        store,
        accounts.map(({ id, shard }) => ({ id, shard, after: 0, entriesMax: 1 })),
      );
      const first = new Map(found.map(({ accountId, entries }) => [accountId, entries[0]?.position]));
      for (const account of accounts) this.#accounts.checked(account, first.get(account.id) ?? Infinity);
      this.#checkedTogether = Math.min(2 * this.#checkedTogether, this.#limits.accountsPerRead);
    } catch (error) {
      onEvent({ kind: 'fan-out-unavailable', call: 'check', error });
      this.#checkedTogether = Math.ceil(accounts.length / 2);
    }
    await this.#pauses.wait(checkPauseMs + 4 * (performance.now() - startMs));
    this.#checking = null;
    this.#startNext();
  }

  async #countAnew(): Promise<void> {
    while (await this.#pauses.wait(this.#limits.countMs)) this.#accounts.countAnew();
  }

  async #retryBehind(): Promise<void> {
    if (this.#isRetryPlanned) return;
    this.#isRetryPlanned = true;
    await this.#pauses.wait(behindRetryMs);
    this.#isRetryPlanned = false;
    this.#accounts.retryBehind();
    this.#startNext();
  }

  async #poll(): Promise<void> {
    const { pollMs, blockedMs, blockedCountMs } = this.#limits;
    const isPollOf = (intervalMs: number): boolean => this.#polls % Math.max(1, Math.round(intervalMs / pollMs)) === 0;
    while (await this.#pauses.wait(pollMs)) {
      this.#polls += 1;
      this.#pins.age();
      if (isPollOf(blockedMs)) this.#blocked.recount(true);
      else if (isPollOf(blockedCountMs)) this.#blocked.recount();
      this.#accounts.poll();
      this.#startNext();
    }
  }
}
