/** What an interface version and an event version have in common. */
interface Lifecycle {
  status: 'preview' | 'current' | 'deprecated' | 'retired';
  /** `YYYY-MM-DD`. Null when no end is planned. */
  sunsetOn: string | null;
}

/** Whether a version has come to its end: nobody can choose it any more. */
export function isRetired({ status, sunsetOn }: Lifecycle, now: Date): boolean {
  const today = now.toISOString().slice(0, 'YYYY-MM-DD'.length);
  return status === 'retired' || (sunsetOn !== null && sunsetOn <= today);
}
