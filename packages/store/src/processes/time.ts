import { onlyRow, type Database, sql } from '../statements/database.ts';

/** The current time of the database, not the start of the transaction. */
export async function selectTime(database: Database): Promise<Date> {
  const statement = sql('select-time')`select clock_timestamp() as time`;
  return onlyRow(await database.query<{ time: Date }>(statement, [])).time;
}
