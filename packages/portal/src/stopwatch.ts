/**
 * Starts to measure a time, in milliseconds. `performance.now()` stands still in some browsers while the machine sleeps, and a person
 * can set back the clock of `Date.now()`: whichever has passed more counts.
 */
export function startStopwatch(): () => number {
  const [startedMs, monotonicMs] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - startedMs, performance.now() - monotonicMs);
}
