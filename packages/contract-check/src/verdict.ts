/** Smallest first: how large a version bump must be. */
export const verdicts = ['none', 'patch', 'minor', 'major'] as const;

/** How large a version bump a change asks for. `none`: nobody can tell the difference. */
export type Verdict = (typeof verdicts)[number];

/** Negative when `a` is smaller than `b`, 0 when they are the same, positive when it is larger. */
export function compareVerdicts(a: Verdict, b: Verdict): number {
  return verdicts.indexOf(a) - verdicts.indexOf(b);
}

export function largerVerdict(a: Verdict, b: Verdict): Verdict {
  return compareVerdicts(a, b) >= 0 ? a : b;
}

export function isVerdict(value: unknown): value is Verdict {
  return verdicts.some((verdict) => verdict === value);
}
