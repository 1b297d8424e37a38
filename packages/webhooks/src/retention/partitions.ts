import { type Day, dayOf } from './days.ts';

/** The partitioned tables, in the order in which a day is dropped: a late success is recorded only if its delivery exists. */
export const partitionedTables = ['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] as const;
export type PartitionedTable = (typeof partitionedTables)[number];

/**
 * - `attached`: in use
 * - `detaching`: an interrupted `detach … concurrently`, no longer in use
 * - `detached`: a separate table, to be dropped
 */
export type PartitionState = 'attached' | 'detaching' | 'detached';

export interface Partition {
  readonly name: string;
  readonly table: PartitionedTable;
  readonly day: Day;
  readonly state: PartitionState;
}

const namePattern = /^(webhook_(?:event|payload|delivery|attempt))_(\d{4})(\d{2})(\d{2})$/;

/** Returns null for the name of another table. */
export function parsePartition(name: string, state: PartitionState): Partition | null {
  const [, prefix, year, month, date] = namePattern.exec(name) ?? [];
  const table = partitionedTables.find((candidate) => candidate === prefix);
  if (table === undefined) return null;
  const day = dayOf(new Date(Date.UTC(Number(year), Number(month) - 1, Number(date))));
  return { name, table, day, state };
}

/** Returns for how many days after today every table has partitions, without a gap. -1 if one is missing today. */
export function daysAhead(partitions: readonly Partition[], today: Day): number {
  const attached = new Set(
    partitions.filter(({ state }) => state === 'attached').map(({ table, day }) => `${table} ${day}`),
  );
  let ahead = -1;
  while (partitionedTables.every((table) => attached.has(`${table} ${today + ahead + 1}`))) ahead += 1;
  return ahead;
}

export interface RetentionBounds {
  /** Deliveries drawn before this day have expired. */
  readonly expired: Day;
  /**
   * Events and payloads before this day are dropped. One day later than deliveries expire, because an event is fanned out
   * after its id was drawn.
   */
  readonly bodies: Day;
  /** Deliveries and attempts before this day are dropped. */
  readonly deliveries: Day;
}

const daysOfExpired = 7;

export function retentionBounds(now: Date, retentionDays: number): RetentionBounds {
  const expired = dayOf(now) - retentionDays;
  return { expired, bodies: expired - 1, deliveries: expired - daysOfExpired };
}

/** The partitions to drop, oldest first. Interrupted ones come first, because a table can have only one of them. */
export function duePartitions(partitions: readonly Partition[], bounds: RetentionBounds): Partition[] {
  return partitions
    .filter(({ table, day }) => day < firstKept(table, bounds))
    .toSorted(
      (a, b) =>
        Number(b.state === 'detaching') - Number(a.state === 'detaching') ||
        a.day - b.day ||
        partitionedTables.indexOf(a.table) - partitionedTables.indexOf(b.table),
    );
}

function firstKept(table: PartitionedTable, { bodies, deliveries }: RetentionBounds): Day {
  return table === 'webhook_event' || table === 'webhook_payload' ? bodies : deliveries;
}
