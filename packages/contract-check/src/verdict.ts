/** All verdicts, smallest first. */
export const verdicts = ['none', 'patch', 'minor', 'major'] as const;

/** The version bump that a change needs. `none` when clients cannot notice the change. */
export type Verdict = (typeof verdicts)[number];

/** Returns a negative number if `a` is smaller than `b`, 0 if they are equal, and a positive number if `a` is larger. */
export function compareVerdicts(a: Verdict, b: Verdict): number {
  return verdicts.indexOf(a) - verdicts.indexOf(b);
}

export function largerVerdict(a: Verdict, b: Verdict): Verdict {
  return compareVerdicts(a, b) >= 0 ? a : b;
}

export function isVerdict(value: unknown): value is Verdict {
  return verdicts.some((verdict) => verdict === value);
}
