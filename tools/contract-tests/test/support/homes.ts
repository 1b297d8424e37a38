import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';

/** Runs statements as a superuser. */
type Run = Pick<Harness, 'sql'>;

/** Freezes accounts, for another cell. Resolves once no transaction from before is open, with the time of the freeze. */
export async function freeze({ sql }: Run, accountIds: readonly string[]): Promise<string> {
  await sql(`
    do $$
    declare
      since timestamptz;
    begin
      lock table account_home in share update exclusive mode;
      since := next_freeze();
      insert into account_home select id, 1, since from unnest('{${accountIds.join()}}'::bigint[]) as id;
    end $$`);
  const [open] = await sql(
    `select (select max(frozen_at)::text from account_home) as "frozenAt", array_agg(virtualtransaction) as transactions
     from pg_locks
     where relation = 'account_home'::regclass and mode <> 'SIReadLock' and pid <> pg_backend_pid()
       and database = (select oid from pg_database where datname = current_database())`,
  );
  for (;;) {
    const left = await sql('select from pg_locks where virtualtransaction = any ($1)', [open?.['transactions'] ?? []]);
    if (left.length === 0) return String(open?.['frozenAt']);
  }
}

/** Resolves once the workers have nothing of a freeze in flight. */
export function untilQuiet({ sql }: Run, frozenAt: string): Promise<void> {
  return eventually(async () => {
    const left = await sql('select * from webhook_unquiet_workers($1)', [frozenAt]);
    if (left.length > 0) throw new Error(`${left.length} workers are not quiet.`);
  });
}

/** The other cell owns them from now on. */
export async function leave({ sql }: Run, accountIds: readonly string[]): Promise<void> {
  await sql('update account_home set frozen_at = null where account_id = any ($1)', [accountIds]);
}

/** Ends a freeze without a split. */
export async function comeHome({ sql }: Run, accountIds: readonly string[]): Promise<void> {
  await sql('delete from account_home where account_id = any ($1)', [accountIds]);
}

const hashOf = (table: string): string =>
  `(select count(*) || ' ' || md5(string_agg(t::text, ' ' order by t::text)) from ${table} t) as ${table}`;

/** A hash of the rows of each table, apart from those that do not belong to accounts. */
export async function hashTables({ sql }: Run): Promise<Record<string, unknown>> {
  const tables = await sql(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname !~ '^(app_|account_home|webhook_(worker|shard|retention)$)'
    order by 1`);
  const [hashes = {}] = await sql(`select ${tables.map(({ name }) => hashOf(String(name))).join()}`);
  return hashes;
}
