/** The ids from `min` to below `before`. */
export interface IdRange {
  min: bigint;
  before: bigint;
}

/** How many ids belong to one day. The history has one partition per day, and id 0 is at the start of a day. */
export const idsPerDay = 86_400_000n << 22n;

/** Splits a range at the limits of partitions, newest first. Each part lies within `days` partitions. */
export function* splitByDays({ min, before }: IdRange, days: number): Generator<IdRange> {
  for (let end = before; end > min;) {
    const start = ((end - 1n) / idsPerDay - BigInt(days - 1)) * idsPerDay;
    yield { min: start > min ? start : min, before: end };
    end = start;
  }
}

/** Divides ids, newest first, into groups of at most `size` ids within `days` partitions. Keeps the order. */
export function groupIds<Id extends string>(ids: readonly Id[], size: number, days: number): Id[][] {
  const groups: Id[][] = [];
  for (const id of ids) {
    const group = groups.at(-1);
    const [newest] = group ?? [];
    const isNear = newest !== undefined && BigInt(newest) / idsPerDay - BigInt(id) / idsPerDay < BigInt(days);
    if (group !== undefined && isNear && group.length < size) group.push(id);
    else groups.push([id]);
  }
  return groups;
}
