/** The common part of an interface version and an event version. */
export interface VersionLifecycle {
  status: 'preview' | 'current' | 'deprecated' | 'retired';
  /** `YYYY-MM-DD`. Null if no sunset is planned. */
  sunsetOn: string | null;
}

/** The start of a day in UTC. Null if `day` is null or not a date `YYYY-MM-DD`. */
export function startOfDay(day: string | null): Date | null {
  if (day === null) return null;
  const start = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(start.getTime()) ? null : start;
}

/** The time from which a version is no longer served or pinned: the start of its `sunsetOn`. Null if no sunset is planned. */
export function sunsetTime({ sunsetOn }: Pick<VersionLifecycle, 'sunsetOn'>): Date | null {
  return startOfDay(sunsetOn);
}

/** Whether a version is retired: by its status, or because its sunset has come. */
export function isRetired(version: VersionLifecycle, now: Date): boolean {
  const sunset = sunsetTime(version);
  return version.status === 'retired' || (sunset !== null && sunset <= now);
}
