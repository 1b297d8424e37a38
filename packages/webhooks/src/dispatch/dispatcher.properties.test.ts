import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { hangs, type Receiver, succeedsAfter, World } from '../../test/dispatch/world.ts';
import { type LaneId, shardOf } from '../kernel/ids.ts';
import { Lane, type LanePhase } from './lane.ts';

const lanes = 4;
const dayMs = 86_400_000;

const receivers: Record<string, Receiver> = {
  succeeds: succeedsAfter(20),
  isSlow: succeedsAfter(900),
  fails: () => ({ afterMs: 10, status: 500 }),
  hangs,
  failsOften: ({ sequence }, attempt) => ({ afterMs: 30, status: (Number(sequence) + attempt) % 3 === 0 ? 200 : 500 }),
  isOverloaded: (_, attempt) => ({ afterMs: 5, status: attempt % 2 === 0 ? 200 : 429, retryAfter: '3' }),
  isGone: () => ({ afterMs: 5, status: 410 }),
  breaks: () => {
    throw new Error('A bug in the sender.');
  },
};

type Step =
  | { kind: 'offer' | 'store'; lane: number; count: number; claims: number }
  | { kind: 'receiver'; lane: number; name: string }
  | { kind: 'advance'; ms: number }
  | { kind: 'storage'; isUnavailable: boolean }
  | { kind: 'refuse'; everyNth: number }
  | { kind: 'pause' | 'resume' | 'change' | 'open' | 'release'; lane: number }
  | { kind: 'clock'; ms: number }
  | { kind: 'takeOver' };

const lane = fc.integer({ min: 0, max: lanes - 1 });
const receiver = fc.constantFrom(...Object.keys(receivers));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('offer', 'store'),
      lane,
      count: fc.integer({ min: 1, max: 30 }),
      claims: fc.constantFrom(0, 0, 0, 1, 3, 5),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('advance'),
      ms: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 40_000 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('receiver'), lane, name: receiver }) },
  fc.record({ kind: fc.constant('storage'), isUnavailable: fc.boolean() }),
  fc.record({ kind: fc.constant('refuse'), everyNth: fc.constantFrom(0, 0, 7, 13) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('pause', 'resume', 'change', 'open', 'release'), lane }) },
  fc.record({ kind: fc.constant('clock'), ms: fc.integer({ min: -10_000, max: 10_000 }) }),
  fc.record({ kind: fc.constant('takeOver') }),
);

const steps = fc.array(step, { minLength: 5, maxLength: 80 });
const atStart = fc.array(receiver, { minLength: lanes, maxLength: lanes });

/** Applies random steps to a small dispatcher, and checks the books after all faults are repaired. */
class Run {
  readonly world = new World({
    slots: 16,
    memory: { queueDeliveries: 8, queueBodyBytes: 10_000, deliveries: 24, bodyBytes: 100_000 },
  });
  readonly ids: LaneId[] = [];

  /** @param names the receiver of each lane at the start */
  constructor(names: readonly string[]) {
    for (const [number, name] of names.entries()) {
      const id = this.world.addLane(number + 1, receivers[name] ?? hangs, 1 + (number >> 1));
      this.ids.push(id);
    }
  }

  async apply(given: Step): Promise<void> {
    const { world } = this;
    const { storage, dispatcher, clock } = world;
    if (given.kind === 'advance') return clock.advance(given.ms);
    if (given.kind === 'clock') return clock.step(given.ms);
    if (given.kind === 'storage') storage.isUnavailable = given.isUnavailable;
    else if (given.kind === 'refuse') {
      storage.refuses = ({ delivery }) => given.everyNth > 0 && Number(delivery.deliveryId) % given.everyNth === 0;
    } else if (given.kind === 'takeOver') world.takeOver();
    else {
      const id = this.ids[given.lane];
      if (id === undefined) return;
      if (given.kind === 'offer') world.offer(id, given.count, { claims: given.claims });
      else if (given.kind === 'store') {
        world.store(id, given.count, { claims: given.claims });
        dispatcher.openLane(id);
      } else if (given.kind === 'receiver') world.receivers.set(id.subscriptionId, receivers[given.name] ?? hangs);
      else if (given.kind === 'pause') world.pause(id);
      else if (given.kind === 'resume') world.resume(id);
      else if (given.kind === 'release') {
        dispatcher.closeShard(shardOf(id.accountId));
        for (const other of this.ids) if (other.accountId === id.accountId) dispatcher.openLane(other);
      } else if (given.kind === 'change') dispatcher.rereadTarget(id.subscriptionId);
      else dispatcher.openLane(id);
    }
  }

  /** Repairs everything, and waits for longer than any retry takes. */
  async finish(restart: boolean): Promise<void> {
    const { world } = this;
    world.storage.isUnavailable = false;
    world.storage.refuses = () => false;
    for (const id of this.ids) world.receivers.set(id.subscriptionId, receivers['succeeds'] ?? hangs);
    await world.clock.advance(10_000);
    if (restart) world.takeOver();
    for (const id of this.ids) if (world.storage.targetOf(id.subscriptionId) === null) world.resume(id);
    await world.clock.advance(4 * dayMs);
    // The first success corrects a stored state that differs, and the second one is recorded with the same state.
    for (const id of [...this.ids, ...this.ids]) {
      world.offer(id, 1);
      await world.clock.advance(5_000);
    }
  }

  storedFailures(): (number | undefined)[] {
    return this.ids.map(({ subscriptionId }) => this.world.storage.targetOf(subscriptionId)?.state.consecutiveFailures);
  }
}

/** The phases that may follow each phase of a lane. */
const nextPhases: Record<LanePhase, readonly LanePhase[]> = {
  new: ['loading'],
  loading: ['loading', 'open', 'pausing', 'closed'],
  open: ['loading', 'open', 'pausing', 'closed'],
  pausing: ['loading', 'closed'],
  closed: ['loading', 'closed'],
};

const enter = vi.spyOn(Lane.prototype as unknown as { enter(phase: LanePhase): void }, 'enter');

/** The transitions of lanes since the last call that `nextPhases` does not contain. */
function forbiddenTransitions(): string[] {
  const forbidden: string[] = [];
  const phases = new Map<unknown, LanePhase>();
  for (const [index, [phase]] of enter.mock.calls.entries()) {
    const context = enter.mock.contexts[index];
    const previous = phases.get(context) ?? 'new';
    if (!nextPhases[previous].includes(phase)) forbidden.push(`${previous} to ${phase}`);
    phases.set(context, phase);
  }
  enter.mockClear();
  return forbidden;
}

test('loses no delivery and sends none twice under random faults of receivers, storage and workers', async () => {
  await fc.assert(
    fc.asyncProperty(atStart, steps, fc.boolean(), async (names, given, restart) => {
      const run = new Run(names);
      for (const next of given) await run.apply(next);
      await run.finish(restart);
      const { world } = run;
      const setAside = new Set(world.eventsOf('settlement-refused').map(({ delivery }) => delivery.deliveryId));
      const left = world.storage.pending().map(({ deliveryId }) => deliveryId);
      expect(forbiddenTransitions()).toEqual([]);
      expect(world.wronglySent).toEqual([]);
      expect(world.inFlightMax).toBeLessThanOrEqual(16);
      expect(world.dispatcher.stats()).toMatchObject({ inFlight: 0, unsettled: 0 });
      if (world.eventsOf('lane-stopped').length > 0 && !restart) return;
      expect(run.storedFailures()).toEqual([0, 0, 0, 0]);
      expect(restart ? left : left.filter((id) => !setAside.has(id))).toEqual([]);
    }),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
});
