import { daysOfExpired } from '../kernel/ids.ts';

/** Without partitions of these tables, no event can be stored or delivered. */
export const historyTables = ['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] as const;
export const partitionedTables = [...historyTables, 'webhook_exchange'] as const;
export type PartitionedTable = (typeof partitionedTables)[number];

/** The rows of one day. */
export interface Partition {
  readonly table: PartitionedTable;
  readonly day: Day;
}

const namePattern = /^(webhook_(?:event|payload|delivery|attempt|exchange))_(\d{4})(\d{2})(\d{2})$/;

/** Returns null for the name of another table. */
export function parsePartition(name: string): Partition | null {
  const [, prefix, year, month, date] = namePattern.exec(name) ?? [];
  const table = partitionedTables.find((candidate) => candidate === prefix);
  if (table === undefined) return null;
  return { table, day: dayOf(new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)))) };
}

/** Returns for how many days after today each of these tables has partitions, without a gap. -1 if one is missing today. */
export function daysAhead(
  partitions: readonly Partition[],
  today: Day,
  tables: readonly PartitionedTable[] = partitionedTables,
): number {
  const existing = new Set(partitions.map(({ table, day }) => `${table} ${day}`));
  let ahead = -1;
  while (tables.every((table) => existing.has(`${table} ${today + ahead + 1}`))) ahead += 1;
  return ahead;
}

/** How long the rows of the history are kept. */
export interface RetentionDays {
  /** Of payloads. Deliveries and attempts are kept 7 days longer. */
  readonly history: number;
  /** Of the details of attempts. */
  readonly exchanges: number;
  /** Of replays, after their end. */
  readonly replays: number;
}

/**
 * The database computes the same bounds when it drops partitions (`webhook_due_partitions`,
 * `webhook_due_exchange_partitions`).
 */
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
  /** Details of attempts before this day are dropped. */
  readonly exchanges: Day;
}

export function retentionBounds(
  now: Date,
  { history, exchanges }: Pick<RetentionDays, 'exchanges' | 'history'>,
): RetentionBounds {
  const expired = dayOf(now) - history;
  return { expired, bodies: expired - 1, deliveries: expired - daysOfExpired, exchanges: dayOf(now) - exchanges };
}

/** Whether all rows of a partition are older than their table keeps them. */
export function isDue({ table, day }: Partition, bounds: RetentionBounds): boolean {
  return day < bounds[boundOf[table]];
}

const boundOf: Readonly<Record<PartitionedTable, keyof RetentionBounds>> = {
  webhook_event: 'bodies',
  webhook_payload: 'bodies',
  webhook_delivery: 'deliveries',
  webhook_attempt: 'deliveries',
  webhook_exchange: 'exchanges',
};

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
