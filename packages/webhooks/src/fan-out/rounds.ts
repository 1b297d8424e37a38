import { AccountAwayError, LockTimeoutError, StoreUnavailableError, type Store } from '@deedwire/store';
import type { OnFanOutEvent, RoundKind } from '../events.ts';
import { FencedOutError, type WorkerId } from '../fence/fence.ts';
import { Backoff } from '../kernel/clock.ts';
import { failpoint } from '../kernel/failpoint.ts';
import type { AccountId, LaneId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { isRenderable } from './can-continue.ts';
import type { FanOutLimits } from './limits.ts';
import { pendingDeliveries, type RoundResult } from './pending-deliveries.ts';
import type { PinsCache } from './pins-cache.ts';
import { planRound } from './plan-round.ts';
import { emptyRound } from './plan-statements.ts';
import type { QueuedAccount, QueueEntry, Turn } from './queued-account.ts';
import type { Recovery } from './recovery.ts';
import type { Renderer } from './renderer.ts';
import type { PickedEntry, RoundPlan } from './round-plan.ts';
import { blockedOnRefusal } from './sql/blocked-queue.ts';
import { readEvents, type ReadEvents } from './sql/events.ts';
import { countEntryClaims } from './sql/queue.ts';
import { AccountsAwayError, areGone, isStaleRound, readLockedAccounts, writeRound } from './sql/round.ts';
import { endSpans, startSpans, type FanOutSpan, type TraceFanOut } from './trace-fan-out.ts';

/** While so many writes have an unknown outcome, their rounds wait for it. */
const unknownMax = 2;

/** What rounds read, write and call. */
export interface RoundContext {
  store: Store;
  workerId: () => WorkerId;
  render: Renderer;
  /** Called before a round is written, with the lanes that are about to get deliveries. It may fail: then they get none. */
  expect: (lanes: readonly LaneId[]) => void;
  /** Called immediately after the commit of a round, with the deliveries of subscriptions that are not paused. */
  offer: (deliveries: readonly PendingDelivery[]) => void;
  /** A write of unknown outcome may have added deliveries to these lanes. Read them from storage. */
  onUncertain: (lanes: readonly LaneId[]) => void;
  onEvent: OnFanOutEvent;
  /** Undefined if nothing is traced. */
  traceFanOut?: TraceFanOut | undefined;
}

export interface RoundsOptions extends RoundContext {
  pins: PinsCache;
  recovery: Recovery;
  limits: FanOutLimits;
  /** Resolves after this time with true, or with false as soon as fan-out stops. */
  wait: (delayMs: number) => Promise<boolean>;
  /** Nothing of these accounts is in progress. Called once for each account of a round. */
  onReleased: (accounts: readonly QueuedAccount[]) => void;
  /** Accounts of a round wait, and it goes on without them. `written`: those with a write that may be in progress until then. */
  onHeld: (waiting: Promise<void>, written: readonly QueuedAccount[]) => void;
  onBlocked: (account: AccountId, blockedOn: string) => void;
  onFenced: () => void;
}

interface Round {
  readonly kind: RoundKind;
  readonly workerId: WorkerId;
  readonly deliveriesMax: number;
  /** Accounts with entries that the round has not written. */
  readonly unwritten: Set<QueuedAccount>;
  /** Those of them that are released later. */
  readonly held: Set<QueuedAccount>;
}

/**
 * Reads the events of rounds, renders and writes them. A round is written as a whole, or fails. What it does not write stays in the
 * queue, and is read again when its account is released.
 *
 * | the write                | what follows                                                              | the account is released          |
 * | ------------------------ | ------------------------------------------------------------------------- | -------------------------------- |
 * | is done                  | its deliveries are offered to their lanes                                 | at the end of the round          |
 * | waited for a locked row  | the accounts without one are written at once                              | when none of its rows is locked  |
 * | has an unknown outcome   | it is looked up. If it was executed, the lanes of the round are read      | when the outcome is known        |
 * | finds an entry deleted   | another write has deleted it: the lanes of the round are read             | at the end, after a delay        |
 * | fails before it is sent  |                                                                           | at the end, after a delay        |
 * | is fenced out            | all shards are removed                                                    | never: it leaves memory          |
 * | finds an account away    | the others are written at once. Reads leave it out until it is home       | at the end of the round          |
 * | is frozen meanwhile      | nothing is written: it would have put off entries of the account          | at the end, after a delay        |
 * | is refused               | its halves are written. A single entry is blocked                         | at the end of the round          |
 *
 * A write of unknown outcome that was not executed can still be, before another one of its entries. So its lanes are also read when
 * the entries of the account were read again.
 */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #backoff = new Backoff();
  /** How many writes have an unknown outcome. */
  #unknown = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(kind: RoundKind, turns: readonly Turn[], deliveriesMax: number): Promise<void> {
    const { workerId, onReleased, onUncertain } = this.#options;
    // The id is read once: a worker that was declared dead registers under a new id, and must not write this round under
    // that id.
    const round: Round = { kind, workerId: workerId(), deliveriesMax, unwritten: new Set(), held: new Set() };
    // Before deliveries of later entries are offered. Their write fails if one of these is still executed.
    for (const { account } of turns) if (account.uncertainLanes.length > 0) onUncertain(account.uncertainLanes);
    const written = turns.filter(({ account, entries }) => entries.length > 0 && !account.isRemoved);
    await this.#write(round, written);
    const released = turns.map(({ account }) => account).filter((account) => !round.held.has(account));
    for (const account of released) {
      if (round.unwritten.has(account)) account.hasMore = true;
      else account.uncertainLanes.length = 0;
    }
    onReleased(released);
  }

  /** Deletes the entries of changes that were applied under this id, and blocks the others. Returns whether it was written. */
  async finishChanges(
    workerId: WorkerId,
    account: QueuedAccount,
    applied: readonly QueueEntry[],
    refused: readonly QueueEntry[],
  ): Promise<boolean> {
    const { store, onEvent, onFenced } = this.#options;
    const done = applied.map((entry) => ({ account, entry }));
    const blocked = refused.map((entry) => ({ account, entry, blockedOn: blockedOnRefusal }));
    try {
      await writeRound(store, workerId, { ...emptyRound, done, blocked });
      return true;
    } catch (error) {
      if (error instanceof AccountsAwayError) return false;
      if (!(error instanceof FencedOutError)) onEvent({ kind: 'fan-out-unavailable', call: 'change', error });
      else if (!account.isRemoved) onFenced();
      return false;
    }
  }

  async #write(round: Round, turns: readonly Turn[]): Promise<void> {
    if (turns.length === 0) return;
    const { store, expect, traceFanOut } = this.#options;
    const startMs = traceFanOut === undefined ? undefined : Date.now();
    let spans: readonly FanOutSpan[] = [];
    let writing: RoundPlan | null = null;
    try {
      const plan = await this.#prepare(round, turns);
      let result: RoundResult | null = null;
      if (plan.done.length > 0 || plan.blocked.length > 0) {
        failpoint('fan-out-before-write');
        writing = plan;
        if (traceFanOut !== undefined) spans = startSpans(plan, traceFanOut, startMs);
        expect(lanesOf(plan));
        const written = await writeRound(store, round.workerId, plan);
        failpoint('fan-out-after-write');
        result = pendingDeliveries(plan, written);
        endSpans(spans);
      }
      this.#backoff.reset();
      this.#written(round, turns, plan, result);
    } catch (error) {
      endSpans(spans, error);
      await this.#failed(round, turns, writing, error);
    }
  }

  async #prepare({ kind, workerId, deliveriesMax }: Round, turns: readonly Turn[]): Promise<RoundPlan> {
    const { render: renderer, pins: cache, limits, onEvent } = this.#options;
    const picked = pickedOf(turns);
    const reading = cache.get(turns.map(({ account }) => account));
    // The events of an express round are few: they do not wait until it is known whether their accounts have subscriptions.
    const [pins, early] = await Promise.all([
      reading,
      kind === 'express' ? this.#readEvents(picked.filter(({ account }) => cache.peek(account.id) !== null)) : null,
    ]);
    const events = early ?? (await this.#readEvents(picked.filter(({ account }) => pins.has(account.id))));
    // A shard that was removed meanwhile no longer counts claims.
    const owned = picked.filter(({ account }) => !account.isRemoved);
    const rendered = owned.filter((pick) => isRenderable(pick, events, pins, renderer));
    await this.#countClaims(workerId, rendered);
    const roundLimits = { roundBytes: limits.roundBytes, deliveries: deliveriesMax };
    return planRound(owned, { pins, events, renderer, limits: roundLimits, onEvent });
  }

  async #readEvents(picked: readonly PickedEntry[]): Promise<ReadEvents> {
    // An event that was blocked has an entry for each subscription.
    const ids = [...new Set(picked.flatMap(({ entry }) => entry.eventId ?? []))];
    if (ids.length === 0) return { events: new Map(), leftOut: new Set() };
    return readEvents(this.#options.store, ids, this.#options.limits.roundBytes);
  }

  async #countClaims(workerId: WorkerId, picked: readonly PickedEntry[]): Promise<void> {
    const { store, recovery } = this.#options;
    const uncounted = picked.filter(({ account, entry }) => recovery.mustCount(account.shard, entry));
    if (uncounted.length === 0) return;
    for (const { account, entry } of uncounted) recovery.counting(account.shard, entry);
    await countEntryClaims(store, workerId, uncounted);
  }

  #written(round: Round, turns: readonly Turn[], plan: RoundPlan, result: RoundResult | null): void {
    const { recovery, offer, onUncertain, onBlocked, onEvent } = this.#options;
    for (const { account, entry } of [...plan.done, ...plan.blocked]) {
      account.after = Math.max(account.after, entry.position);
      recovery.finished(account.shard, entry);
    }
    for (const { account } of plan.leftOver) round.unwritten.add(account);
    if (result === null) return;
    const { offered, uncertain, failed } = result;
    const { deliveries, done, blocked, deferred } = plan;
    onEvent({ kind: 'fanned-out', round: round.kind, entries: done.length, deliveries: deliveries.length, failed });
    if (turns.every(({ account }) => account.isRemoved)) return;
    if (offered.length > 0) offer(offered);
    if (uncertain.length > 0) onUncertain(uncertain);
    for (const { account, blockedOn } of blocked) onBlocked(account.id, blockedOn);
    for (const { accountId, eventType } of deferred) onBlocked(accountId, eventType);
  }

  async #failed(round: Round, turns: readonly Turn[], writing: RoundPlan | null, error: unknown): Promise<void> {
    const { onUncertain, onFenced, onEvent } = this.#options;
    if (error instanceof FencedOutError) {
      if (turns.some(({ account }) => !account.isRemoved)) onFenced();
    } else if (error instanceof AccountsAwayError) {
      for (const { account } of turns) if (error.accounts.has(account.id)) round.unwritten.add(account);
      await this.#write(
        round,
        turns.filter(({ account }) => !error.accounts.has(account.id)),
      );
    } else if (error instanceof AccountAwayError) await this.#delay(round, turns);
    else if (error instanceof LockTimeoutError) await this.#locked(round, turns, writing);
    else if (error instanceof StoreUnavailableError) {
      onEvent({ kind: 'fan-out-unavailable', call: 'round', error });
      if (writing === null) await this.#delay(round, turns);
      else {
        this.#unknown += 1;
        const known = this.#untilKnown(turns, writing.done, lanesOf(writing)).finally(() => (this.#unknown -= 1));
        this.#hold(round, turns, known, turns);
        if (this.#unknown >= unknownMax) await known;
      }
    } else if (writing !== null && isStaleRound(error)) {
      onEvent({ kind: 'fan-out-stale', entries: writing.done.length });
      onUncertain(lanesOf(writing));
      await this.#delay(round, turns);
    } else await this.#refused(round, turns, error);
  }

  /** The round ends after a while without these accounts. Meanwhile, it keeps others from the same failure. */
  async #delay({ unwritten }: Round, turns: readonly Turn[]): Promise<void> {
    for (const { account } of turns) unwritten.add(account);
    await this.#options.wait(this.#backoff.next());
  }

  #hold({ unwritten, held }: Round, turns: readonly Turn[], waiting: Promise<void>, written: readonly Turn[]): void {
    for (const { account } of turns) {
      unwritten.add(account);
      held.add(account);
      account.hasMore = true;
    }
    const accounts = written.map(({ account }) => account);
    this.#options.onHeld(waiting, accounts);
  }

  async #untilKnown(turns: readonly Turn[], done: RoundPlan['done'], lanes: readonly LaneId[]): Promise<void> {
    const { store, wait, onUncertain, onReleased, onEvent } = this.#options;
    const backoff = new Backoff();
    while (await wait(backoff.next())) {
      try {
        if (await areGone(store, done)) onUncertain(lanes);
        else
          for (const { account } of turns)
            account.uncertainLanes.push(...lanes.filter(({ accountId }) => accountId === account.id));
        return onReleased(turns.map(({ account }) => account));
      } catch (error) {
        onEvent({ kind: 'fan-out-unavailable', call: 'round', error });
      }
    }
  }

  async #locked(round: Round, turns: readonly Turn[], plan: RoundPlan | null): Promise<void> {
    const locked = await this.#lockedAccounts(turns, plan);
    // None: the lock is gone, or it is on a table.
    if (locked.size === 0) return this.#delay(round, turns);
    const waiting = turns.filter(({ account }) => locked.has(account.id));
    for (const { account } of waiting) this.#options.onEvent({ kind: 'fan-out-locked', account: account.id });
    this.#hold(round, waiting, this.#untilUnlocked(waiting, plan), []);
    const others = turns.filter(({ account }) => !locked.has(account.id));
    await this.#write(round, others);
  }

  async #untilUnlocked(turns: readonly Turn[], plan: RoundPlan | null): Promise<void> {
    const { wait, onReleased } = this.#options;
    const backoff = new Backoff();
    let waiting = turns;
    while (waiting.length > 0 && (await wait(backoff.next()))) {
      const locked = await this.#lockedAccounts(waiting, plan);
      onReleased(waiting.filter(({ account }) => !locked.has(account.id)).map(({ account }) => account));
      waiting = waiting.filter(({ account }) => locked.has(account.id) && !account.isRemoved);
    }
  }

  /** All accounts if it is not known. */
  async #lockedAccounts(turns: readonly Turn[], plan: RoundPlan | null): Promise<ReadonlySet<AccountId>> {
    const accounts = new Set(turns.map(({ account }) => account.id));
    const subscriptions = plan?.subscriptions.filter(({ accountId }) => accounts.has(accountId)) ?? [];
    return readLockedAccounts(this.#options.store, pickedOf(turns), subscriptions).catch((error: unknown) => {
      this.#options.onEvent({ kind: 'fan-out-unavailable', call: 'round', error });
      return accounts;
    });
  }

  async #refused(round: Round, turns: readonly Turn[], error: unknown): Promise<void> {
    const [turn] = turns;
    if (turn === undefined) return;
    const { account, entries } = turn;
    if (turns.length > 1) {
      for (const half of halve(turns)) await this.#write(round, half);
      return;
    }
    if (entries.length > 1) {
      for (const half of halve(entries)) {
        // No entry overtakes an earlier one that was not written.
        if (!round.unwritten.has(account)) await this.#write(round, [{ account, entries: half }]);
      }
      return;
    }
    const event = entries[0]?.eventId ?? null;
    this.#options.onEvent({ kind: 'entry-refused', alarm: true, account: account.id, event, error });
    if (!(await this.finishChanges(round.workerId, account, [], entries))) await this.#delay(round, turns);
  }
}

/** Lists the entries of a round by turns: the first of each account, the second of each account, and so on. */
function pickedOf(turns: readonly Turn[]): PickedEntry[] {
  const picked: PickedEntry[] = [];
  const longest = Math.max(0, ...turns.map(({ entries }) => entries.length));
  for (let index = 0; index < longest; index += 1) {
    for (const { account, entries } of turns) {
      const entry = entries[index];
      if (entry !== undefined) picked.push({ account, entry });
    }
  }
  return picked;
}

function halve<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}

/** The lanes whose deliveries are sent immediately after the write. */
function lanesOf({ subscriptions }: RoundPlan): LaneId[] {
  return subscriptions.flatMap(({ id, accountId, isPaused, isListener }) =>
    isPaused || isListener ? [] : { subscriptionId: id, accountId },
  );
}
