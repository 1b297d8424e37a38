import { type AccountId, hasKeys, parseRecordId } from '@deedwire/core';
import type { PersonRecord } from '@deedwire/store/person-erasures';
import type { PersonRegistry } from '@deedwire/store/person-registry';
import type { EventId } from '@deedwire/webhooks/tables';
import type { OnProgress } from '../../kernel/unhurried.ts';
import {
  type PersonContext,
  type PersonDelivery,
  type PersonEvent,
  scanPersonDeliveries,
  scanPersonEvents,
} from './history.ts';

/** What is stored of records. Rows can be in it twice. */
export interface PersonHistory {
  events: PersonEvent[];
  deliveries: PersonDelivery[];
  /** What cannot be read of events, which may be about the person. */
  unreadable: Map<EventId, string>;
}

export function newHistory(): PersonHistory {
  return { events: [], deliveries: [], unreadable: new Map() };
}

/** A record of which the account may be unknown. */
export type SoughtRecord = Omit<PersonRecord, 'accountId'> & { accountId: AccountId | null };

/** The record that an event or a delivery names, in the account of this event or delivery. */
export function recordOf(
  registry: PersonRegistry,
  { type, recordId, accountId, key }: PersonDelivery | PersonEvent,
): PersonRecord | null {
  const recordType = registry.events.get(type)?.recordType;
  const id = recordId === null ? null : parseRecordId(recordId);
  return recordType && id !== null ? { type: recordType, id, key, accountId } : null;
}

/** A key of maps. An event of another account can name the same record. */
export function nameOf({ type, id, key, accountId }: SoughtRecord): string {
  return `${type} ${id} ${accountId} ${key ?? ''}`;
}

/** Tells which of these records a record is. What is kept of one can lack its key: its event is erased or deleted. */
export function finderOf<Record extends SoughtRecord>(
  records: readonly Record[],
): (record: PersonRecord) => Record | undefined {
  const placeOf = ({ type, id }: SoughtRecord): string => `${type} ${id}`;
  const byPlace = Map.groupBy(records, placeOf);
  return (record) =>
    byPlace
      .get(placeOf(record))
      ?.find(
        ({ accountId, key }) =>
          (accountId === null || accountId === record.accountId) &&
          (key === null || record.key === null || key === record.key),
      );
}

/** Tells whether a record is one of these. */
export function isOneOf(records: readonly SoughtRecord[]): (record: PersonRecord) => boolean {
  const find = finderOf(records);
  return (record) => find(record) !== undefined;
}

/** Adds the events and deliveries of these records to a history, by default all of them. */
export async function readHistory(
  context: PersonContext,
  records: readonly SoughtRecord[],
  { events, deliveries, unreadable }: PersonHistory,
  onProgress: OnProgress,
  { from, onEvents }: { from?: string; onEvents?: () => Promise<void> } = {},
): Promise<void> {
  const recordIds = records.map(({ id }) => id).toSorted((a, b) => Number(BigInt(a) - BigInt(b)));
  const [oldest] = recordIds;
  if (oldest === undefined) return;
  const isSought = isOneOf(records);
  const accountIds = new Set(records.map(({ accountId }) => accountId));
  // A hash says nothing of the time.
  const since = records.some(({ type }) => hasKeys(context, type)) ? '1' : oldest;
  const of = { from: from ?? since, recordIds, key: null };
  await scanPersonEvents(context, of, onProgress, (event) => {
    const record = recordOf(context.registry, event);
    if (record === null && event.problem !== null) unreadable.set(event.id, event.problem);
    // The event of an early release is erased, and its deliveries may not be.
    if (record === null ? event.isErased && accountIds.has(event.accountId) : isSought(record)) events.push(event);
  });
  await onEvents?.();
  // A worker of an earlier release writes no record beside the event of a delivery.
  const eventIds = events.map(({ id }) => id);
  await scanPersonDeliveries(context, { ...of, eventIds }, onProgress, (delivery) => {
    const record = recordOf(context.registry, delivery);
    if (record === null ? accountIds.has(delivery.accountId) : isSought(record)) deliveries.push(delivery);
  });
}
