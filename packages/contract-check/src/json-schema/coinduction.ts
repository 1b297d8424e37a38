/** Something that is true until a proof of the contrary. */
interface Claim<T> {
  readonly about: T;
  holds: boolean;
  /** Whether that is known under what is assumed of the other claims. */
  isExamined: boolean;
  /** The claims that relied on this one when they were last examined. */
  readonly dependents: Set<Claim<T>>;
}

/**
 * Returns the largest relation that agrees with `examine`, for relations that refer to themselves: two circular schemas are
 * the same unless there is a difference. What an examination assumes, it is repeated without if that turns out to be wrong, so
 * that only what is decided is remembered.
 *
 * @param keyOf identifies what a claim is about
 * @param examine whether a claim holds, given which others do. If more of them hold, it must not hold less, or the
 * result would depend on the order of the examinations.
 */
export function coinductive<T>(
  keyOf: (about: T) => unknown,
  examine: (about: T, holds: (other: T) => boolean) => boolean,
): (about: T) => boolean {
  const claims = new Map<unknown, Claim<T>>();
  return (start) => {
    const pending = new Set<Claim<T>>();

    function claimOf(about: T): Claim<T> {
      const key = keyOf(about);
      const claim = claims.get(key) ?? { about, holds: true, isExamined: false, dependents: new Set() };
      claims.set(key, claim);
      if (!claim.isExamined) pending.add(claim);
      return claim;
    }

    const asked = claimOf(start);
    // Appended to during the loop. A claim that is removed before can be appended again.
    for (const claim of pending) {
      pending.delete(claim);
      const isNeeded = claim === asked || [...claim.dependents].some(({ holds }) => holds);
      if (!claim.holds || !isNeeded) continue;
      claim.isExamined = true;
      claim.holds = examine(claim.about, (other) => {
        const assumed = claimOf(other);
        assumed.dependents.add(claim);
        return assumed.holds;
      });
      if (claim.holds) continue;
      for (const dependent of claim.dependents) {
        dependent.isExamined = false;
        pending.add(dependent);
      }
    }
    return asked.holds;
  };
}
