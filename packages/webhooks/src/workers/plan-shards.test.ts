import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WorkerId } from '../fence/fence.ts';
import { shardCount } from '../kernel/ids.ts';
import { planShards, type ShardPlan } from './plan-shards.ts';

const workerId = (number: number): WorkerId => String(number) as WorkerId;

/** Workers that read the counts and carry out their plans in any interleaving. */
class Group {
  readonly counts = new Map<WorkerId, number>();
  readonly #plans = new Map<WorkerId, ShardPlan>();
  free = shardCount;
  moves = 0;
  #joined = 0;

  join(): void {
    this.#joined += 1;
    this.counts.set(workerId(this.#joined), 0);
  }

  /** The worker left, or died and was taken over. */
  remove(index: number): void {
    const id = [...this.counts.keys()][index % this.counts.size];
    if (id === undefined || this.counts.size === 1) return;
    this.free += this.counts.get(id) ?? 0;
    this.counts.delete(id);
    this.#plans.delete(id);
  }

  read(id: WorkerId): void {
    this.#plans.set(id, planShards({ own: id, workers: this.counts, free: this.free }));
  }

  act(id: WorkerId): void {
    const { acquire, release } = this.#plans.get(id) ?? { acquire: 0, release: 0 };
    this.#plans.delete(id);
    const acquired = Math.min(acquire, this.free);
    this.counts.set(id, (this.counts.get(id) ?? 0) + acquired - release);
    this.free += release - acquired;
    this.moves += acquired + release;
  }

  get ids(): WorkerId[] {
    return [...this.counts.keys()];
  }

  round(): void {
    for (const id of this.ids) {
      this.read(id);
      this.act(id);
    }
  }

  roundOfStaleReads(): void {
    for (const id of this.ids) this.read(id);
    for (const id of this.ids) this.act(id);
  }
}

const change = fc.oneof(
  fc.record({ kind: fc.constant('join' as const) }),
  fc.record({ kind: fc.constantFrom('remove' as const, 'read' as const, 'act' as const), index: fc.nat(9) }),
);

function apply(group: Group, step: { kind: 'join' } | { kind: 'remove' | 'read' | 'act'; index: number }): void {
  if (step.kind === 'join') {
    if (group.counts.size < 10) group.join();
  } else if (step.kind === 'remove') group.remove(step.index);
  else group[step.kind](group.ids[step.index % group.ids.length] ?? workerId(0));
}

test.each(['round', 'roundOfStaleReads'] as const)('workers that join, leave and die converge (%s)', (round) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const group = new Group();
      group.join();
      for (const step of changes) apply(group, step);

      for (let count = 0; count < 4; count += 1) group[round]();

      const least = Math.floor(shardCount / group.counts.size);
      const most = Math.ceil(shardCount / group.counts.size);
      expect(group.free).toBe(0);
      for (const count of group.counts.values()) {
        expect(count).toBeGreaterThanOrEqual(least);
        expect(count).toBeLessThanOrEqual(most);
      }
      const { moves } = group;
      group[round]();
      expect(group.moves).toBe(moves);
    }),
    { numRuns: Number(process.env['RUNS'] ?? 200) },
  );
});

test('moves no more shards than the worker that joins receives', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), (size) => {
      const group = new Group();
      for (let count = 0; count < size; count += 1) group.join();
      for (let count = 0; count < 4; count += 1) group.round();
      group.join();
      group.moves = 0;
      for (let count = 0; count < 4; count += 1) group.round();
      expect(group.moves).toBe(2 * Math.floor(shardCount / (size + 1)));
    }),
  );
});
