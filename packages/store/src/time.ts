import { onlyRow, type Database } from './database.ts';

/** The current time of the database, not the start of the transaction. */
export async function selectTime(database: Database): Promise<Date> {
  const statement = { name: 'select-time', text: 'select clock_timestamp() as time' };
  return onlyRow(await database.query<{ time: Date }>(statement, [])).time;
}
