import { inboxSql } from '../job-inbox.ts';
import { postgresKeptEventsSql, postgresPullSql, postgresStoreSql } from '../postgres.ts';
import { checked, parse, type Shell, UsageError, valued } from './shell.ts';

const sqlOfTables = {
  store: postgresStoreSql,
  inbox: inboxSql,
  'kept-events': postgresKeptEventsSql,
  pull: postgresPullSql,
};

export async function sqlCommand(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, { table: valued, 'grant-to': valued });
  const [table = ''] = positionals;
  if (positionals.length !== 1 || !isTable(table)) throw new UsageError('sql needs store, inbox, kept-events or pull.');
  shell.out(checked(() => sqlOfTables[table](values.table, values['grant-to'])));
  return 0;
}

function isTable(subject: string): subject is keyof typeof sqlOfTables {
  return Object.hasOwn(sqlOfTables, subject);
}
