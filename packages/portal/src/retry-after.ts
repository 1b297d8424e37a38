const [minMs, maxMs] = [2_000, 900_000];

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long to wait before a refused request is sent again, in milliseconds. Null if the server names no time. After each refusal in a
 * row, the wait is twice as long, up to 64 s: many pages may wait for one server.
 *
 * @param value of `Retry-After`: seconds or a date
 * @param refusals of the same request in a row, before this one
 * @param random from 0 to 1
 */
export function waitAfter(value: string, refusals: number, nowMs: number, random: number): number | null {
  const namedMs = /^\d+$/.test(value) ? Number(value) * 1000 : httpDate.test(value) ? Date.parse(value) - nowMs : null;
  if (namedMs === null || Number.isNaN(namedMs)) return null;
  const paceMs = minMs * 2 ** Math.min(refusals, 5);
  return Math.min(Math.max(namedMs, paceMs), maxMs) * (1 + random / 4);
}
