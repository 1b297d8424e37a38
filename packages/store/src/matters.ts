import type { RecordId } from '@deedwire/domain';
import { onlyRow, type Database } from './store.ts';

export interface MatterRow {
  id: RecordId<'Matter'>;
  reference: string;
  openedAt: Date;
}

/** The id and the opening time of the next matter. Its reference contains both. */
export async function reserveMatter(database: Database): Promise<{ id: RecordId<'Matter'>; openedAt: Date }> {
  const statement = {
    name: 'reserve-matter',
    text: `select nextval('matter_id_seq') as id, now()::timestamptz(3) as "openedAt"`,
  };
  return onlyRow(await database.query<{ id: RecordId<'Matter'>; openedAt: Date }>(statement, []));
}

export async function insertMatter(
  database: Database,
  referralId: RecordId<'Referral'>,
  matter: MatterRow,
): Promise<void> {
  const statement = {
    name: 'insert-matter',
    text: 'insert into matter (id, referral_id, reference, opened_at) values ($1, $2, $3, $4)',
  };
  await database.query(statement, [matter.id, referralId, matter.reference, matter.openedAt]);
}
