/** The day of a point in time, `YYYY-MM-DD` in UTC. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function isDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}

/**
 * The day a number of months later. It may not exist (`2029-02-29`): a comparison as text still orders it before the
 * first day of the next month.
 */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const count = year * 12 + month - 1 + months;
  const parts = [Math.floor(count / 12), (count % 12) + 1, date];
  return parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')).join('-');
}
