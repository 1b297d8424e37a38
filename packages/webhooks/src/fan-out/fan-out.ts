import type { Store } from '@deedwire/store';
import type { WorkerId } from '../fence/worker-id.ts';
import type { Announcement } from '../kernel/announcement.ts';
import { Backoff } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { Shard } from '../kernel/shard.ts';
import { readPins } from '../subscriptions/read-pins.ts';
import { AnnouncedEvents } from './announced-events.ts';
import { BlockedEntries } from './blocked-entries.ts';
import { ChangeApplier } from './change-applier.ts';
import { Discovery } from './discovery.ts';
import type { RoundKind, OnFanOutEvent } from './events.ts';
import { KnownEntries } from './known-entries.ts';
import { defaultFanOutLimits, type FanOutLimits } from './limits.ts';
import { PinsCache } from './pins-cache.ts';
import { planStatements } from './plan-statements.ts';
import type { QueuedAccount } from './queued-account.ts';
import type { Renderer } from './renderer.ts';
import { RoundRunner } from './round-runner.ts';
import { readEvents } from './sql/events.ts';
import type { TraceFanOut } from './trace-fan-out.ts';
import { type Turn, Turns } from './turns.ts';

export interface FanOutOptions {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  workerId: () => WorkerId;
  render: Renderer;
  /** Called before a round is written, with the lanes that are about to get deliveries. It may fail: then they get none. */
  expect: (lanes: readonly LaneId[]) => void;
  /** Called immediately after the commit of a round, with the deliveries of subscriptions that are not paused. */
  offer: (deliveries: readonly PendingDelivery[]) => void;
  /** Whether the lanes of the account have enough to send. Its entries then wait, but not for more than 250 ms. */
  isBehind: (accountId: AccountId) => boolean;
  /** A subscription was created, changed, paused, resumed or deleted. May be called again for the same change. */
  onSubscriptionChanged: (change: LaneId) => Promise<void>;
  /** A write of unknown outcome may have added deliveries to these lanes. Read them from storage. */
  onUncertain: (lanes: readonly LaneId[]) => void;
  onEvent: OnFanOutEvent;
  limits?: Partial<FanOutLimits>;
  traceFanOut?: TraceFanOut | undefined;
}

/** How often accounts that were passed over are examined. */
const passedOverRetryMs = 5;

/** The maximum number of accounts whose changes are applied at the same time. */
const changesMax = 4;

interface Progress {
  readonly accounts: readonly QueuedAccount[];
  readonly ended: Promise<void>;
}

/**
 * Turns the queued events of the shards that this process owns into deliveries. Connects the parts, and starts rounds and
 * changes when accounts have entries.
 *
 *     const fanOut = new FanOut({ store, render, offer: (deliveries) => dispatcher.offer(deliveries), …options });
 *     await fanOut.prepare(); // after the worker was registered
 *     fanOut.addShards(acquired); // after their lanes were opened
 *     fanOut.wake([shard]); // for each notification
 *     await fanOut.removeShard(shard); // before the shard is released
 *     await fanOut.stop();
 */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #limits: FanOutLimits;
  readonly #known: KnownEntries;
  readonly #turns: Turns;
  readonly #pins: PinsCache;
  readonly #announced: AnnouncedEvents;
  readonly #discovery: Discovery;
  readonly #blocked: BlockedEntries;
  readonly #rounds: RoundRunner;
  readonly #changes: ChangeApplier;
  readonly #running = { express: 0, bulk: 0, isolated: 0, change: 0 };
  readonly #progress = new Set<Progress>();
  readonly #cancelTimers = new Set<() => void>();
  #isRetryPlanned = false;
  #polls = 0;
  #isStopped = false;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#limits = { ...defaultFanOutLimits, ...options.limits };
    const { store, clock, workerId, render: renderer, expect, offer, onUncertain, onEvent } = options;
    const limits = this.#limits;
    const known = new KnownEntries(limits.knownEntries);
    const pause = (accounts: readonly QueuedAccount[]): void => this.#pause(accounts);
    const onFenced = (): void => {
      this.removeAllShards();
      onEvent({ kind: 'fan-out-fenced', alarm: true });
    };
    this.#known = known;
    this.#turns = new Turns((account) => options.isBehind(account.id));
    this.#pins = new PinsCache({
      read: (accounts) => readPins(store, accounts),
      generationsMax: Math.max(1, Math.round(limits.pinsMaxAgeMs / limits.pollMs)),
    });
    this.#announced = new AnnouncedEvents(async (id) =>
      (await readEvents(store, [id], limits.roundBytes)).events.get(id),
    );
    this.#blocked = new BlockedEntries({
      store,
      clock,
      workerId,
      renderer,
      pins: this.#pins,
      limits,
      hasRoom: (account) => known.hasRoom(account),
      onUnblocked: (rows) => {
        this.#placeAll(new Set(rows.flatMap((row) => known.addUnblocked(row) ?? [])));
        this.#discovery.readNext();
      },
      onUncertain: (shard) => this.#discovery.readWhole(shard),
      onFenced,
      onEvent,
    });
    this.#rounds = new RoundRunner({
      store,
      workerId,
      renderer,
      pins: this.#pins,
      announced: this.#announced,
      known,
      limits,
      expect,
      offer,
      onUncertain,
      pause,
      onBlocked: (entries) => this.#blocked.report(entries),
      onFenced,
      onEvent,
      traceFanOut: options.traceFanOut,
    });
    this.#changes = new ChangeApplier({
      known,
      onSubscriptionChanged: options.onSubscriptionChanged,
      examine: (account) => this.#blocked.examine(account),
      pause,
      onFenced,
      onEvent,
    });
    this.#discovery = new Discovery({
      database: store,
      clock,
      known,
      limits,
      onEvent,
      onDiscovered: (accounts) => this.#placeAll(accounts),
      onChange: (account) => this.#pins.drop(account.id),
      onReadAgain: (account) => {
        if (account.uncertainLanes.size > 0) onUncertain([...account.uncertainLanes.values()]);
      },
    });
    this.#poll();
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

  addShards(shards: readonly { shard: Shard; isRecovering: boolean }[]): void {
    for (const { shard, isRecovering } of shards) {
      this.#discovery.add(shard, isRecovering);
      this.#blocked.add(shard);
    }
  }

  /** How many entries of the shards of this process are blocked, counted every 10 seconds. */
  get blocked(): number {
    return this.#blocked.count;
  }

  /** Returns the shards that still hold entries from before the takeover. */
  recoveringIn(shards: readonly Shard[]): Shard[] {
    return shards.filter((shard) => this.#discovery.isRecovering(shard));
  }

  /** Stops fan-out of the shard. Resolves once none of its rounds or changes is in progress. */
  async removeShard(shard: Shard): Promise<void> {
    const ended = [this.#forgetShard(shard)];
    for (const progress of this.#progress) {
      if (progress.accounts.some((account) => account.shard === shard)) ended.push(progress.ended);
    }
    await Promise.all(ended);
  }

  /** Stops fan-out of all shards, because the worker was declared dead. Rounds in progress offer nothing. */
  removeAllShards(): void {
    for (const shard of this.#discovery.shards) void this.#forgetShard(shard);
  }

  /** Reads the event of a shard of this process, if its account may have subscriptions. Its shard is woken as well. */
  announce({ accountId, eventId }: Announcement): void {
    if (!this.#isStopped && this.#pins.peek(accountId) !== null) this.#announced.announce(eventId);
  }

  /** Reads these shards, or all shards if null. */
  wake(shards: readonly Shard[] | null): void {
    if (!this.#isStopped) this.#discovery.wake(shards);
  }

  /** Starts no further round or change. Resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#cancelTimers) cancel();
    await Promise.all([this.#discovery.stop(), this.#blocked.stop()]);
    await Promise.all(Array.from(this.#progress, ({ ended }) => ended));
  }

  #placeAll(accounts: ReadonlySet<QueuedAccount>): void {
    for (const account of accounts) {
      if (account.isUnused) account.uncertainLanes.clear();
      this.#turns.place(account);
      this.#known.forgetUnused(account);
    }
    this.#startNext();
  }

  #startNext(): void {
    if (this.#isStopped) return;
    while (this.#running.change < changesMax) {
      const account = this.#turns.claimChange();
      if (account === undefined) break;
      const changes = this.#changes.claim(account);
      this.#track('change', [account], this.#changes.apply(account, changes));
    }
    const { expressDeliveries, bulkDeliveries, bulkRounds } = this.#limits;
    const weightOf = (account: QueuedAccount): number => this.#weightOf(account);
    if (this.#running.express === 0 && this.#turns.hasExpress) {
      this.#start('express', this.#turns.claimExpress(weightOf, expressDeliveries), expressDeliveries);
    }
    if (this.#running.isolated === 0 && this.#turns.hasIsolated) {
      this.#start('isolated', this.#turns.claimIsolated(), bulkDeliveries);
    }
    while (this.#running.bulk < bulkRounds && this.#turns.hasBulk) {
      this.#start('bulk', this.#turns.claimBulk(weightOf, bulkDeliveries), bulkDeliveries);
    }
    if (this.#turns.hasPassedOver && !this.#isRetryPlanned) this.#retryPassedOverLater();
  }

  /** The approximate number of deliveries per event of the account. */
  #weightOf(account: QueuedAccount): number {
    return Math.max(1, this.#pins.peek(account.id)?.subscriptions.length ?? 1);
  }

  #start(kind: RoundKind, turns: readonly Turn[], deliveriesMax: number): void {
    if (turns.length === 0) return;
    const accounts = turns.map(({ account }) => account);
    this.#track(kind, accounts, this.#rounds.run(kind, turns, deliveriesMax));
  }

  #track(kind: RoundKind | 'change', accounts: readonly QueuedAccount[], work: Promise<void>): void {
    this.#running[kind] += 1;
    const ended = work.finally(() => {
      this.#progress.delete(progress);
      this.#running[kind] -= 1;
      for (const account of accounts) {
        account.ended();
        this.#turns.place(account);
        this.#known.forgetUnused(account);
      }
      this.#startNext();
      this.#discovery.readNext();
    });
    const progress: Progress = { accounts, ended };
    this.#progress.add(progress);
  }

  /** Resolves once no entry of the shard is being unblocked. */
  #forgetShard(shard: Shard): Promise<void> {
    this.#discovery.remove(shard);
    this.#pins.dropShard(shard);
    for (const account of this.#known.removeShard(shard)) this.#turns.remove(account);
    return this.#blocked.remove(shard);
  }

  #pause(accounts: readonly QueuedAccount[]): void {
    const failures = Math.max(...accounts.map((account) => account.failures));
    const backoff = new Backoff();
    let delayMs = backoff.next();
    for (let failure = 1; failure < Math.min(failures, 8); failure += 1) delayMs = backoff.next();
    for (const account of accounts) {
      account.isPaused = true;
      this.#turns.remove(account);
    }
    this.#setTimer(() => {
      for (const account of accounts) {
        account.isPaused = false;
        this.#turns.place(account);
      }
      this.#startNext();
      this.#discovery.readNext();
    }, delayMs);
  }

  #retryPassedOverLater(): void {
    this.#isRetryPlanned = true;
    this.#setTimer(() => {
      this.#isRetryPlanned = false;
      this.#turns.retryPassedOver();
      this.#startNext();
    }, passedOverRetryMs);
  }

  #poll(): void {
    this.#setTimer(() => {
      this.#polls += 1;
      this.#pins.age();
      this.#announced.age();
      if (this.#isPollOf(this.#limits.blockedMs)) this.#blocked.examineAll();
      else if (this.#isPollOf(this.#limits.blockedCountMs)) this.#blocked.recount();
      this.#discovery.poll();
      this.#poll();
    }, this.#limits.pollMs);
  }

  /** Whether something that happens every `intervalMs` happens at this poll. */
  #isPollOf(intervalMs: number): boolean {
    return this.#polls % Math.max(1, Math.round(intervalMs / this.#limits.pollMs)) === 0;
  }

  #setTimer(callback: () => void, delayMs: number): void {
    const cancel = this.#options.clock.setTimer(() => {
      this.#cancelTimers.delete(cancel);
      if (!this.#isStopped) callback();
    }, delayMs);
    this.#cancelTimers.add(cancel);
  }
}
