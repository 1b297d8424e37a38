import { callErasing, type PersonRecord } from '@deedwire/store/person-erasures';
import type { ActionContext } from '../../kernel/context.ts';
import { unhurried } from '../../kernel/unhurried.ts';
import type { PersonHistory } from './person-history.ts';

/** The number of rows in a table. */
export interface KeptRows {
  table: string;
  rows: number;
}

/** The tables that have rows of these records, with their number. */
export async function countKept(
  { store }: ActionContext,
  records: readonly PersonRecord[],
  { events, deliveries }: Pick<PersonHistory, 'deliveries' | 'events'>,
): Promise<KeptRows[]> {
  const tables: Record<string, number> = {};
  const add = (counts: Record<string, number>): void => {
    for (const [table, count] of Object.entries(counts)) tables[table] = (tables[table] ?? 0) + count;
  };
  add({ webhook_event: keptOf(events), webhook_delivery: keptOf(deliveries) });
  for (const { type, id, accountId } of records) {
    const [row] = await unhurried(() => callErasing(store, 'person_row', type, id));
    if (row?.accountId === accountId) add({ [row.table]: Number(!row.isErased), idempotency_key: row.savedResults });
  }
  const addOf = async (...ids: readonly (readonly string[])[]): Promise<void> => {
    for (const counts of await unhurried(() => callErasing(store, 'count_kept_of_person', ...ids))) add(counts);
  };
  for (const ids of idsInParts(events)) await addOf(ids, []);
  for (const ids of idsInParts(deliveries)) await addOf([], ids);
  return Object.entries(tables).flatMap(([table, count]) => (count > 0 ? [{ table, rows: count }] : []));
}

function keptOf(rows: PersonHistory['deliveries' | 'events']): number {
  return rows.filter(({ isErased }) => !isErased).length;
}

const idsPerStatement = 100;

export function* idsInParts<Id extends string>(rows: readonly { id: Id }[]): Generator<Id[]> {
  const ids = [...new Set(rows.map(({ id }) => id))];
  while (ids.length > 0) yield ids.splice(0, idsPerStatement);
}
