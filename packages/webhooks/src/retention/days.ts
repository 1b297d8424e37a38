/** A day in UTC: days since 1970-01-01. */
export type Day = number;

const dayMs = 86_400_000;

export function dayOf(time: Date): Day {
  return Math.floor(time.getTime() / dayMs);
}

/** Midnight at the start of the day. */
export function startOf(day: Day): Date {
  return new Date(day * dayMs);
}
