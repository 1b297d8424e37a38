import { inboxSql } from '../job-inbox.ts';
import { postgresKeptEventsSql, postgresPullSql, postgresStoreSql } from '../postgres.ts';
import { checked, isKeyOf, parse, type Shell, UsageError } from './shell.ts';

const sqlOfTables = {
  store: postgresStoreSql,
  inbox: inboxSql,
  'kept-events': postgresKeptEventsSql,
  pull: postgresPullSql,
};

export async function sqlCommand(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, ['table', 'grant-to']);
  const [table = ''] = positionals;
  if (positionals.length !== 1 || !isKeyOf(sqlOfTables, table))
    throw new UsageError('sql needs store, inbox, kept-events or pull.');
  shell.out(checked(() => sqlOfTables[table](values.table, values['grant-to'])));
  return 0;
}
