import { type Day, dayOf } from './days.ts';

export const partitionedTables = ['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] as const;
export type PartitionedTable = (typeof partitionedTables)[number];

/** The rows of one day. */
export interface Partition {
  readonly table: PartitionedTable;
  readonly day: Day;
}

const namePattern = /^(webhook_(?:event|payload|delivery|attempt))_(\d{4})(\d{2})(\d{2})$/;

/** Returns null for the name of another table. */
export function parsePartition(name: string): Partition | null {
  const [, prefix, year, month, date] = namePattern.exec(name) ?? [];
  const table = partitionedTables.find((candidate) => candidate === prefix);
  if (table === undefined) return null;
  return { table, day: dayOf(new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)))) };
}

/** Returns for how many days after today every table has partitions, without a gap. -1 if one is missing today. */
export function daysAhead(partitions: readonly Partition[], today: Day): number {
  const existing = new Set(partitions.map(({ table, day }) => `${table} ${day}`));
  let ahead = -1;
  while (partitionedTables.every((table) => existing.has(`${table} ${today + ahead + 1}`))) ahead += 1;
  return ahead;
}

/** The database computes the same bounds when it drops partitions (`webhook_due_partitions`). */
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

/** Whether all rows of a partition are older than their table keeps them. */
export function isDue({ table, day }: Partition, { bodies, deliveries }: RetentionBounds): boolean {
  return day < (table === 'webhook_event' || table === 'webhook_payload' ? bodies : deliveries);
}
