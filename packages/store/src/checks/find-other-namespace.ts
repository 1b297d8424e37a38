import { describeOtherNamespace } from '../kernel/errors.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** Whether a process has another namespace of global identifiers than its database: a sentence, without the period. */
export async function findOtherNamespace(database: Database, gidNamespace: string): Promise<string[]> {
  const statement = sql('gid-namespace')`select gid_namespace as own from installation`;
  const { own } = onlyRow(await database.query<{ own: string | null }>(statement, []));
  return own === null || own === gidNamespace ? [] : [describeOtherNamespace(own, gidNamespace)];
}
