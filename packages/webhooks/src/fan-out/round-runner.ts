import { LockTimeoutError, ShortLivedMap, StoreUnavailableError, type Store } from '@deedwire/store';
import { FencedOutError } from '../fence/fenced-out-error.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import { failpoint } from '../kernel/failpoint.ts';
import type { AccountId, EventId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { AnnouncedEvents } from './announced-events.ts';
import type { OnFanOutEvent, RoundKind } from './events.ts';
import type { KnownEntries } from './known-entries.ts';
import type { FanOutLimits } from './limits.ts';
import { willRender } from './may-go-on.ts';
import { pendingDeliveries, type RoundResult } from './pending-deliveries.ts';
import type { PinsCache } from './pins-cache.ts';
import { planRound } from './plan-round.ts';
import type { QueuedAccount } from './queued-account.ts';
import type { Renderer } from './renderer.ts';
import type { PickedEntry, RoundPlan } from './round-plan.ts';
import { byTurns, entriesOf, firstDeliveries, halve } from './split-turns.ts';
import type { BlockedGroup } from './sql/blocked-queue.ts';
import { readEvents, type ReadEvents } from './sql/events.ts';
import { countEntryClaims } from './sql/queue.ts';
import { isStaleRound, readLockedAccounts, writeRound } from './sql/round.ts';
import { endSpans, startSpans, type FanOutSpan, type TraceFanOut } from './trace-fan-out.ts';
import type { Turn } from './turns.ts';

export interface RoundRunnerOptions {
  store: Store;
  workerId: () => WorkerId;
  renderer: Renderer;
  pins: PinsCache;
  announced: AnnouncedEvents;
  known: KnownEntries;
  limits: FanOutLimits;
  /** The lanes are about to get deliveries. */
  expect: (lanes: readonly LaneId[]) => void;
  offer: (deliveries: readonly PendingDelivery[]) => void;
  onUncertain: (lanes: readonly LaneId[]) => void;
  /** Backs off these accounts. The delay grows with their failures. */
  pause: (accounts: readonly QueuedAccount[]) => void;
  onBlocked: (entries: readonly Pick<BlockedGroup, 'accountId' | 'blockedOn'>[]) => void;
  onFenced: () => void;
  onEvent: OnFanOutEvent;
  /** Undefined if nothing is traced. */
  traceFanOut: TraceFanOut | undefined;
}

/** A round, and its parts that are not written yet. */
interface Run {
  readonly kind: RoundKind;
  readonly workerId: WorkerId;
  readonly deliveriesMax: number;
  readonly parts: (readonly Turn[])[];
}

const noEvents: ReadEvents = { events: new Map(), leftOut: new Set() };

/**
 * Reads, renders and writes rounds. Afterwards each entry of the round is finished or blocked, waits again, or is dropped and
 * read again.
 */
export class RoundRunner {
  readonly #options: RoundRunnerOptions;

  constructor(options: RoundRunnerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(kind: RoundKind, turns: readonly Turn[], deliveriesMax: number): Promise<void> {
    // The id is read once: a worker that was declared dead registers under a new id, and must not write this round under
    // that id.
    const workerId = this.#options.workerId();
    const parts: (readonly Turn[])[] = [turns];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      await this.#runPart({ kind, workerId, deliveriesMax, parts }, this.#inOrder(part));
    }
  }

  async #runPart(run: Run, turns: readonly Turn[]): Promise<void> {
    if (turns.length === 0) return;
    const { traceFanOut } = this.#options;
    const startMs = traceFanOut === undefined ? undefined : Date.now();
    let spans: readonly FanOutSpan[] = [];
    let plan: RoundPlan;
    let writing: RoundPlan | null = null;
    let result: RoundResult | null = null;
    try {
      plan = await this.#prepare(run, byTurns(turns));
      if (plan.done.length > 0 || plan.blocked.length > 0) {
        failpoint('fan-out-before-write');
        writing = plan;
        if (traceFanOut !== undefined) spans = startSpans(plan, traceFanOut, startMs);
        this.#options.expect(lanesOf(plan));
        const written = await writeRound(this.#options.store, run.workerId, plan);
        failpoint('fan-out-after-write');
        result = pendingDeliveries(plan, written);
        endSpans(spans);
      }
    } catch (error) {
      endSpans(spans, error);
      await this.#failed(turns, writing, error, run.parts);
      return;
    }
    this.#apply(run.kind, turns, plan, result);
  }

  /** Skips accounts with an earlier unwritten entry. */
  #inOrder(turns: readonly Turn[]): readonly Turn[] {
    const { known } = this.#options;
    return turns.filter(({ account, entries }) => {
      const next = account.waiting.first;
      const isOvertaking = next !== undefined && next.position < (entries[0]?.position ?? 0);
      if (account.isPaused && account.unreadFrom !== null) known.forget(account, entries);
      else if (account.isPaused || account.isRemoved || isOvertaking) known.restore(account, entries);
      else return true;
      return false;
    });
  }

  async #prepare({ kind, workerId, deliveriesMax }: Run, picked: readonly PickedEntry[]): Promise<RoundPlan> {
    const { renderer, pins: cache, limits, onEvent } = this.#options;
    const reading = cache.get([...new Set(picked.map(({ account }) => account.id))]);
    // The events of an express round are few: they do not wait until it is known whether their accounts have subscriptions.
    const [pins, early] = await Promise.all([
      reading,
      kind === 'express' ? this.#readEvents(picked.filter(({ account }) => cache.peek(account.id) !== null)) : null,
    ]);
    const [first, further] = firstDeliveries(picked, pins, deliveriesMax * 4);
    const events = early ?? (await this.#readEvents(first.filter(({ account }) => pins.has(account.id))));
    const rendered = first.filter((pick) => willRender(pick, events, pins, renderer));
    await this.#count(workerId, rendered);
    const roundLimits = { roundBytes: limits.roundBytes, deliveries: deliveriesMax };
    const plan = planRound(first, { pins, events, renderer, limits: roundLimits, onEvent });
    return further.length === 0 ? plan : { ...plan, leftOver: [...plan.leftOver, ...further] };
  }

  async #readEvents(picked: readonly PickedEntry[]): Promise<ReadEvents> {
    const { store, announced, limits } = this.#options;
    // An event that was blocked has an entry for each subscription.
    const found = new ShortLivedMap<EventId, true>();
    const ids: EventId[] = [];
    for (const { entry } of picked) {
      const { eventId } = entry;
      if (eventId === null || found.get(eventId) !== undefined) continue;
      found.set(eventId, true);
      ids.push(eventId);
    }
    if (ids.length === 0) return noEvents;
    const events = await announced.take(ids);
    return events === null ? readEvents(store, ids, limits.roundBytes) : { events, leftOut: new Set() };
  }

  /** In a recovering shard, an entry may have ended the last owner. */
  async #count(workerId: WorkerId, picked: readonly PickedEntry[]): Promise<void> {
    const uncounted = picked.filter(({ entry }) => !entry.isCounted);
    if (uncounted.length === 0) return;
    for (const { account, entry } of uncounted) account.ownClaims.counting(entry.position, entry.claims);
    const claimed = uncounted.map(({ account, entry }) => ({ shard: account.shard, entry }));
    await countEntryClaims(this.#options.store, workerId, claimed);
    for (const { entry } of uncounted) entry.isCounted = true;
  }

  #apply(kind: RoundKind, turns: readonly Turn[], plan: RoundPlan, result: RoundResult | null): void {
    const { known, offer, onUncertain, onBlocked, onEvent } = this.#options;
    for (const { account, entry } of [...plan.done, ...plan.blocked]) known.finish(account, entry);
    for (const { account, entries } of entriesOf(plan.leftOver)) known.restore(account, entries);
    for (const { account } of turns) {
      account.failures = 0;
      account.isLocked = false;
      account.uncertainLanes.clear();
    }
    if (result === null) return;
    const { offered, uncertain, failed } = result;
    onEvent({ kind: 'fanned-out', round: kind, entries: plan.done.length, deliveries: plan.deliveries.length, failed });
    if (turns.every(({ account }) => account.isRemoved)) return;
    if (offered.length > 0) offer(offered);
    if (uncertain.length > 0) onUncertain(uncertain);
    onBlocked(plan.blocked.map(({ account, blockedOn }) => ({ accountId: account.id, blockedOn })));
    onBlocked(plan.deferred.map(({ accountId, eventType }) => ({ accountId, blockedOn: eventType })));
  }

  async #failed(
    turns: readonly Turn[],
    writing: RoundPlan | null,
    error: unknown,
    parts: (readonly Turn[])[],
  ): Promise<void> {
    const { onFenced, onEvent } = this.#options;
    if (error instanceof FencedOutError) {
      this.#restore(turns);
      if (turns.some(({ account }) => !account.isRemoved)) onFenced();
    } else if (error instanceof LockTimeoutError) await this.#locked(turns, writing, parts);
    else if (error instanceof StoreUnavailableError) {
      onEvent({ kind: 'fan-out-unavailable', call: 'round', error });
      if (writing === null) this.#restore(turns);
      else this.#forget(turns, writing);
      this.#pause(turns);
    } else if (writing !== null && isStaleRound(error)) {
      onEvent({ kind: 'fan-out-stale', entries: writing.done.length });
      this.#forget(turns, writing);
      this.#pause(turns);
    } else this.#refused(turns, error, parts);
  }

  /**
   * Runs the accounts without a locked row again at once, so that they have waited once. All back off if no row is locked:
   * the lock is gone, or it is on a table.
   */
  async #locked(turns: readonly Turn[], writing: RoundPlan | null, parts: (readonly Turn[])[]): Promise<void> {
    const accounts = await this.#lockedAccounts(turns, writing);
    const locked = turns.filter(({ account }) => accounts.has(account.id));
    for (const { account } of locked) {
      this.#options.onEvent({ kind: 'fan-out-locked', account: account.id });
      account.isLocked = true;
    }
    const waiting = locked.length === 0 ? turns : locked;
    this.#restore(waiting);
    this.#pause(waiting);
    if (locked.length > 0) parts.push(turns.filter(({ account }) => !accounts.has(account.id)));
  }

  async #lockedAccounts(turns: readonly Turn[], writing: RoundPlan | null): Promise<ReadonlySet<AccountId>> {
    const entries = turns.flatMap(({ account: { id, shard }, entries: ofAccount }) =>
      ofAccount.map(({ position }) => ({ accountId: id, shard, position })),
    );
    try {
      return await readLockedAccounts(this.#options.store, entries, writing?.subscriptions ?? []);
    } catch (error) {
      this.#options.onEvent({ kind: 'fan-out-unavailable', call: 'round', error });
      return new Set();
    }
  }

  #refused(turns: readonly Turn[], error: unknown, parts: (readonly Turn[])[]): void {
    const [turn] = turns;
    const [entry] = turn?.entries ?? [];
    if (turns.length > 1) parts.unshift(...halve(turns));
    else if (turn !== undefined && turn.entries.length > 1) {
      const { account } = turn;
      parts.unshift(...halve(turn.entries).map((entries) => [{ account, entries }]));
    } else if (turn !== undefined && entry !== undefined) {
      const { account } = turn;
      this.#options.onEvent({ kind: 'entry-refused', alarm: true, account: account.id, event: entry.eventId, error });
      if (entry.isRefused) {
        this.#restore(turns);
        this.#pause(turns);
      } else {
        entry.isRefused = true;
        parts.unshift(turns);
      }
    }
  }

  #restore(turns: readonly Turn[]): void {
    for (const { account, entries } of turns) this.#options.known.restore(account, entries);
  }

  /** Drops the entries after a write of unknown outcome, which may still be executed. */
  #forget(turns: readonly Turn[], { subscriptions }: RoundPlan): void {
    const lanes = new Map<string, Map<SubscriptionId, LaneId>>();
    for (const { account } of turns) lanes.set(account.id, account.uncertainLanes);
    for (const { id, accountId } of subscriptions) lanes.get(accountId)?.set(id, { subscriptionId: id, accountId });
    for (const { account, entries } of turns) this.#options.known.forget(account, entries);
  }

  #pause(turns: readonly Turn[]): void {
    for (const { account } of turns) account.failures += 1;
    this.#options.pause(turns.map(({ account }) => account));
  }
}

/** The lanes whose deliveries are sent immediately after the write. */
function lanesOf({ subscriptions }: RoundPlan): LaneId[] {
  return subscriptions.flatMap(({ id, accountId, isPaused, isListener }) =>
    isPaused || isListener ? [] : { subscriptionId: id, accountId },
  );
}
