import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { coinductive } from './coinduction.ts';

/** Each claim holds if, in one of the lists of its line, all others hold. */
type Claims = readonly (readonly (readonly number[])[])[];

const size = 8;
const claims: fc.Arbitrary<Claims> = fc.array(
  fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { maxLength: 3 }),
  { minLength: size, maxLength: size },
);

/** The largest solution: all claims, without those that cannot hold, until none is left that cannot. */
function largest(all: Claims): boolean[] {
  let holding = all.map(() => true);
  for (const _ of all) {
    const before = holding;
    holding = all.map((ways) => ways.some((way) => way.every((other) => before[other])));
  }
  return holding;
}

/** Decides each claim on its own. Assumes only what is being decided, and remembers nothing. */
function withoutMemory(all: Claims, claim: number, open: ReadonlySet<number> = new Set()): boolean {
  if (open.has(claim)) return true;
  const inside = new Set([...open, claim]);
  return (all[claim] ?? []).some((way) => way.every((other) => withoutMemory(all, other, inside)));
}

test('decides claims as without memory, in any order', () => {
  fc.assert(
    fc.property(claims, fc.array(fc.nat(size - 1), { minLength: 1, maxLength: 20 }), (all, questions) => {
      const decide = coinductive<number>(
        (claim) => claim,
        (claim, holds) => (all[claim] ?? []).some((way) => way.every(holds)),
      );
      const answers = questions.map(decide);
      expect(answers).toEqual(questions.map((claim) => largest(all)[claim]));
      expect(answers).toEqual(questions.map((claim) => withoutMemory(all, claim)));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 300) },
  );
});

test('examines each claim of a circle once', () => {
  let examined = 0;
  const decide = coinductive<number>(
    (claim) => claim,
    (claim, holds) => {
      examined += 1;
      return holds((claim + 1) % 1000);
    },
  );
  expect([decide(0), decide(500)]).toEqual([true, true]);
  expect(examined).toBe(1000);
});
