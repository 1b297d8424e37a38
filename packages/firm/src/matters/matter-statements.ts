import type { RecordId } from '@deedwire/core';
import { onlyRow, type Database, sql } from '@deedwire/store';

/** What the reference of a matter is made of. Cells count matters separately. */
export interface MatterNumber {
  cell: number;
  number: string;
  openedAt: Date;
}

/** Reserves the number of the next matter. A number is never used twice; a rollback leaves a gap. */
export async function reserveMatterNumber(database: Database): Promise<MatterNumber> {
  const statement = sql(
    'reserve-matter-number',
  )`select cell, nextval('matter_number') as number, now()::timestamptz(3) as "openedAt" from installation`;
  return onlyRow(await database.query<Record<string, unknown> & MatterNumber>(statement, []));
}

export async function insertMatter(
  database: Database,
  referralId: RecordId<'Referral'>,
  matter: { reference: string; openedAt: Date },
): Promise<{ id: RecordId<'Matter'> }> {
  const statement = sql(
    'insert-matter',
  )`insert into matter (referral_id, reference, opened_at) values ($1, $2, $3) returning id`;
  return onlyRow(
    await database.query<{ id: RecordId<'Matter'> }>(statement, [referralId, matter.reference, matter.openedAt]),
  );
}
