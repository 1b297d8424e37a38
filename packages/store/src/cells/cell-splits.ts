import { type RecordId, timeoutDefaultSeconds, timeoutMaxSeconds } from '@deedwire/core';
import { type Database, firstRow, onlyRow } from '../statements/database.ts';

/** A split of this cell. Times are null until the step has been taken. */
export interface CellSplit {
  id: string;
  fromCell: number;
  toCell: number;
  organizationIds: RecordId<'Organization'>[];
  standbys: string[];
  preparedAt: Date;
  frozenAt: Date | null;
  freezeLsn: string | null;
  promotedAt: Date | null;
  activatedAt: Date | null;
  abortedAt: Date | null;
}

/** What decides whether a server can be a side of a split. */
export interface CellServer {
  isSuperuser: boolean;
  isStandby: boolean;
  /** Equal for a server and its physical standbys. */
  system: string;
  version: string;
  /** Without what a package appends. */
  versionNumber: string;
  database: string;
  /** Of a standby: whether it receives the log of its primary at this moment. */
  isStreaming: boolean;
  /** Of a standby: the name by which its primary knows it. */
  standbyName: string;
  /** Those whom each commit waits for, unless the server is a standby. */
  synchronousStandbyNames: string;
  /** Of a standby: what it has replayed. Of a primary: what it has flushed. It can have written more, which standbys do not get until then. */
  lsn: string;
  /** On this machine, as far as the address says so. */
  isLocal: boolean;
  /** Null for a login that is not a superuser. */
  dataDirectory: string | null;
  maxWalBytes: string;
}

/** Patroni, as the server that it started knows it. */
export interface Patroni {
  /** The scope. */
  cluster: string;
  /** Whether it makes a primary a standby again. */
  isStandbyCluster: boolean;
  /** Whether the files of the server make it read-only. */
  isReadOnly: boolean;
}

/** What this cell owns, or what another one owns of what this one has rows of. */
export interface CellOwner {
  cell: number;
  isOwn: boolean;
  organizations: string;
  accounts: string;
  frozenAccounts: string;
  frozenSince: Date | null;
  /** The size of its rows in this cell, estimated, that `cell prune` deletes. */
  bytesToPrune: string;
}

const openSplit = 'activated_at is null and aborted_at is null';

/** Runs a statement of a command that runs rarely: it is not prepared. */
function run<Row>(database: Database, text: string, values: readonly unknown[] = []) {
  return database.query<Record<string, unknown> & Row>({ name: '', text }, values);
}

/** The open split, or else the last one, whatever the clocks of its servers showed. Reads a table of a few rows. */
export async function selectSplit(database: Database): Promise<CellSplit | null> {
  const text = `
    select id, from_cell as "fromCell", to_cell as "toCell", organization_ids::text[] as "organizationIds", standbys,
      prepared_at as "preparedAt", frozen_at as "frozenAt", freeze_lsn::text as "freezeLsn", promoted_at as "promotedAt",
      activated_at as "activatedAt", aborted_at as "abortedAt"
    from cell_split
    order by (${openSplit}) desc, prepared_at desc
    limit 1`;
  return firstRow(await run<CellSplit>(database, text));
}

export async function describeServer(database: Database): Promise<CellServer> {
  const text = String.raw`
    select current_setting('is_superuser') = 'on' as "isSuperuser", pg_is_in_recovery() as "isStandby",
      (select system_identifier::text from pg_control_system()) as system, current_setting('server_version') as version,
      current_setting('server_version_num') as "versionNumber",
      current_database() as database, coalesce(r.status = 'streaming', false) as "isStreaming",
      coalesce(substring(r.conninfo from '(?<!fallback_)application_name=(\S+)'), nullif(current_setting('cluster_name'), ''),
        'walreceiver') as "standbyName", current_setting('synchronous_standby_names') as "synchronousStandbyNames",
      case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end::text as lsn,
      coalesce(inet_server_addr() <<= '127.0.0.0/8' or inet_server_addr() = '::1', true) as "isLocal",
      case when current_setting('is_superuser') = 'on' then current_setting('data_directory') end as "dataDirectory",
      pg_size_bytes(current_setting('max_wal_size'))::text as "maxWalBytes"
    from (values (1)) as one_row
    left join pg_stat_wal_receiver r on true`;
  return onlyRow(await run<CellServer>(database, text));
}

/** Null if Patroni did not start the server. Needs a superuser. */
export async function selectPatroni(database: Database): Promise<Patroni | null> {
  // Copies have the file, but they were not started with its options.
  const text = `
    select setting as cluster, file::jsonb ? 'standby_cluster' as "isStandbyCluster",
      exists (select from pg_file_settings where name = 'default_transaction_read_only' and setting = 'on') as "isReadOnly"
    from pg_settings, pg_read_file('patroni.dynamic.json', 0, 10000000, true) file
    where name = 'cluster_name' and source = 'command line' and file is not null`;
  return firstRow(await run<Patroni>(database, text));
}

export async function selectCell(database: Database): Promise<number> {
  return onlyRow(await run<{ cell: number }>(database, 'select cell from installation')).cell;
}

/** Programs that receive the log and never become primaries: unlike standbys, they replay nothing. */
const isStandby = `(replay_lsn is not null or application_name not in ('pg_basebackup', 'pg_receivewal'))`;

/** The standbys of a primary, by `application_name`. */
export function selectStandbys(database: Database): Promise<{ name: string; isSynchronous: boolean }[]> {
  const text = `
    select application_name as name, sync_state in ('sync', 'quorum') as "isSynchronous"
    from pg_stat_replication
    where state = 'streaming' and ${isStandby}
    order by application_name`;
  return run(database, text);
}

/** The slots that no standby uses at this moment. */
export async function selectIdleSlots(database: Database): Promise<string[]> {
  const text = `select slot_name as name from pg_replication_slots where slot_type = 'physical' and not active order by name`;
  return (await run<{ name: string }>(database, text)).map(({ name }) => name);
}

/** The standbys on the list, and all others that are connected, that have not flushed `lsn`. */
export async function selectStandbysBefore(database: Database, standbys: string[], lsn: string): Promise<string[]> {
  const text = `
    select distinct name
    from (
      select name, count(*) as wanted from unnest($1::text[]) name group by name
      union all
      select application_name, count(*) from pg_stat_replication where state <> 'backup' and ${isStandby} group by application_name
    ) w
    where wanted > (
      select count(*) from pg_stat_replication where application_name = name and state = 'streaming' and flush_lsn >= $2::pg_lsn
    )
    order by name`;
  return (await run<{ name: string }>(database, text, [standbys, lsn])).map(({ name }) => name);
}

/** Whether this cell knows a number: as its own, of a split, of a home, or in the id of an organization or an account. */
export async function knowsCell(database: Database, cell: number): Promise<boolean> {
  const text = `
    select exists (select from installation where cell = $1)
      or exists (select from cell_split where from_cell = $1 or to_cell = $1 and aborted_at is null)
      or exists (select from organization_home where cell = $1)
      or exists (select from organization where (id >> 12) & 1023 = $1)
      or exists (select from account where (id >> 12) & 1023 = $1) as known`;
  return onlyRow(await run<{ known: boolean }>(database, text, [cell])).known;
}

/** The processes that run and are older than homes: their workers acknowledge no freeze. Without those of unknown builds, as from sources. */
export async function selectEarlierProcesses(database: Database): Promise<string[]> {
  const text = `
    select distinct p.app || ' ' || p.version as name
    from app_process p
    join app_contracts c using (digest)
    where p.app <> 'operator-cli' and last_seen_at > now() - interval '3 minutes'
      and (contracts::json ->> 'migration') collate "C" < '0058'
    order by name`;
  return (await run<{ name: string }>(database, text)).map(({ name }) => name);
}

/** Whether this database can have rows that `cell prune` deletes: any account is at home in another cell. */
export async function hasAccountsElsewhere(database: Database): Promise<boolean> {
  const text = 'select exists (select from account_away where not is_frozen) as "hasAccounts"';
  return onlyRow(await run<{ hasAccounts: boolean }>(database, text)).hasAccounts;
}

/** The organizations that this cell owns. */
export async function selectOwnOrganizations(database: Database): Promise<RecordId<'Organization'>[]> {
  const text =
    'select id from organization where id not in (select organization_id from organization_home) order by id';
  return (await run<{ id: RecordId<'Organization'> }>(database, text)).map(({ id }) => id);
}

export type NewSplit = Pick<CellSplit, 'fromCell' | 'organizationIds' | 'standbys' | 'toCell'>;

export async function insertSplit(database: Database, split: NewSplit): Promise<void> {
  const text = 'insert into cell_split (from_cell, to_cell, organization_ids, standbys) values ($1, $2, $3, $4)';
  await run(database, text, [split.fromCell, split.toCell, split.organizationIds, split.standbys]);
}

/** Sessions read all of the table as long as they have plans from when it was empty. */
const planAnew = 'analyze account_home';

/**
 * Freezes the homes that are not frozen yet, in a transaction. Returns when those were frozen, which the workers have to notice, or
 * null if there were none.
 */
export async function freezeHomes(transaction: Database, { organizationIds, toCell }: CellSplit): Promise<Date | null> {
  await run(transaction, 'lock table account_home in share update exclusive mode');
  const text = `
    with moment as materialized (select next_freeze() as at), organizations as (
      insert into organization_home (organization_id, cell, frozen_at)
      select id, $2, at from unnest($1::bigint[]) id, moment
      on conflict do nothing
      returning frozen_at
    ), accounts as (
      insert into account_home (account_id, cell, frozen_at)
      select id, $2, at from account, moment where organization_id = any ($1::bigint[])
      on conflict do nothing
      returning frozen_at
    )
    select max(frozen_at) as "frozenAt" from (table organizations union all table accounts) frozen`;
  const { frozenAt } = onlyRow(await run<{ frozenAt: Date | null }>(transaction, text, [organizationIds, toCell]));
  await run(transaction, planAnew);
  return frozenAt;
}

/**
 * From the last read of a target, if that is not later than this call, to the last byte of a request: the greatest age of a target, the
 * longest timeout of a subscription, a second. A request can still have a timeout that was longer until the last minute, or that of a
 * subscription that was deleted meanwhile. Reads all subscriptions.
 */
export async function selectSendingMs(database: Database): Promise<number> {
  const recently = `clock_timestamp() - interval '1 minute'`;
  const text = `
    select coalesce(max(case when timeout_lowered_at > ${recently} then ${timeoutMaxSeconds} else timeout_seconds end),
      ${timeoutDefaultSeconds}) as seconds
    from webhook_subscription
    where kind = 'PUSH' and (deleted_at is null or deleted_at > ${recently})`;
  return 6_000 + onlyRow(await run<{ seconds: number }>(database, text)).seconds * 1_000;
}

/**
 * The workers that may still send or record deliveries of what is frozen. Declares workers without a lease dead. These read no more
 * targets, but what they have begun can go on, even after they were suspended.
 *
 * @param frozenForMs since no transaction from before the freeze is open
 * @param sendingMs from `selectSendingMs` after the freeze
 */
export async function selectUnquietWorkers(
  database: Database,
  frozenForMs: number,
  sendingMs: number,
): Promise<string[]> {
  // Until it is declared dead, a worker reads targets, even without a lease.
  const now = 'clock_timestamp()';
  await run(
    database,
    `update webhook_worker set alive = false, leased_until = ${now} where alive and leased_until < ${now}`,
  );
  const lastFreeze = '(select max(frozen_at) as at from account_home)';
  const live = await run<{ name: string }>(
    database,
    `select name from ${lastFreeze} f cross join lateral webhook_unquiet_workers(f.at) where f.at is not null`,
  );
  // In its own statement, which sees that the function has just declared a worker dead.
  const dead = await run<{ name: string }>(
    database,
    `
    select name
    from ${lastFreeze} f
    join webhook_worker on not alive and coalesce(quiet_at < f.at, true)
    where f.at is not null and $1::int < $2::int and leased_until > ${now} - $2::int * interval '1 ms'`,
    [Math.round(frozenForMs), sendingMs],
  );
  return [...live, ...dead].map(({ name }) => name);
}

/** The transactions of others that have read homes and are open. What a serializable one has read stays listed after it has ended. */
export function selectHomeReaders(database: Database): Promise<{ transaction: string; session: string }[]> {
  const text = `
    select distinct l.virtualtransaction as transaction, case
        when l.pid is not null then concat_ws(' ', 'process', l.pid, nullif(application_name, ''), 'since', xact_start)
        else concat_ws(' ', 'prepared transaction', p.gid, 'since', p.prepared)
      end as session
    from pg_locks l
    left join pg_stat_activity a on a.pid = l.pid
    left join pg_locks x on l.pid is null and x.pid is null and x.virtualtransaction = l.virtualtransaction and x.locktype = 'transactionid'
    left join pg_prepared_xacts p on p.transaction = x.transactionid
    where l.locktype = 'relation' and l.mode <> 'SIReadLock' and l.database = (select oid from pg_database where datname = current_database())
      and l.relation in ('account_home'::regclass, 'organization_home'::regclass) and l.pid is distinct from pg_backend_pid()`;
  return run(database, text);
}

/** Deletes the homes of what does not leave after all. The freeze is no longer stored. */
export async function unfreezeHomes(transaction: Database): Promise<void> {
  await run(transaction, 'delete from account_home where frozen_at is not null');
  await run(transaction, 'delete from organization_home where frozen_at is not null');
  await run(transaction, `update cell_split set frozen_at = null, freeze_lsn = null where ${openSplit}`);
}

const changes = {
  prepare: 'prepared_at = now()',
  // All that was written before the freeze is before this position.
  freeze: 'frozen_at = now(), freeze_lsn = pg_current_wal_insert_lsn()',
  promote: 'promoted_at = now()',
  activate: 'activated_at = now()',
  abort: 'aborted_at = now()',
};
export type CellStep = keyof typeof changes;

/** Stores that the open split has taken a step. */
export async function storeStep(database: Database, step: CellStep): Promise<void> {
  await run(database, `update cell_split set ${changes[step]} where ${openSplit}`);
}

/** Makes a promoted copy the new side: its number, its homes, and no processes. */
export async function activateNewSide(transaction: Database, split: CellSplit): Promise<void> {
  await run(transaction, 'select take_cell_number()');
  for (const [table, id, source, organization] of [
    ['organization_home', 'organization_id', 'organization', 'id'],
    ['account_home', 'account_id', 'account', 'organization_id'],
  ] as const) {
    await run(transaction, `delete from ${table} where frozen_at is not null`);
    const text = `
      insert into ${table} (${id}, cell)
      select id, $1 from ${source} where ${organization} <> all ($2::bigint[])
      on conflict do nothing`;
    await run(transaction, text, [split.fromCell, split.organizationIds]);
  }
  await run(transaction, planAnew);
  // Those of the old side would be waited for, and their counts expected.
  await run(transaction, 'delete from app_process');
  await run(transaction, `update use_counting set state = 'ENDED' where state = 'OPEN'`);
  await run(transaction, 'update webhook_shard set worker_id = null where worker_id is not null');
  await run(transaction, 'delete from webhook_worker');
}

/** What leaves the old side is at home in the new cell from now on. */
export async function activateOldSide(transaction: Database): Promise<void> {
  await run(transaction, 'update account_home set frozen_at = null where frozen_at is not null');
  await run(transaction, 'update organization_home set frozen_at = null where frozen_at is not null');
}

/** Reads the tables of organizations and accounts as a whole, and some pages of the others. */
export function selectCells(database: Database): Promise<CellOwner[]> {
  const text = `
    with own as (select cell from installation), home as (
      select coalesce(h.cell, own.cell) as cell, 1 as organization, 0 as account, null::timestamptz as frozen_at
      from own cross join organization o left join organization_home h on h.organization_id = o.id
      union all
      select coalesce(h.cell, own.cell), 0, 1, h.frozen_at
      from own cross join account a left join account_home h on h.account_id = a.id
      union all
      select cell, 0, 0, null from own
    ), foreign_rows as materialized (
      select cell, sum(bytes) as bytes from foreign_bytes() group by cell
    )
    select home.cell, home.cell = own.cell as "isOwn", sum(organization) as organizations, sum(account) as accounts,
      count(frozen_at) as "frozenAccounts", min(frozen_at) as "frozenSince",
      coalesce(max(f.bytes), 0) as "bytesToPrune"
    from home cross join own left join foreign_rows f on f.cell = home.cell
    group by home.cell, own.cell
    order by home.cell`;
  return database.query<CellOwner & Record<string, unknown>>({ name: 'select-cells', text }, []);
}
