import { toRecordId } from '@deedwire/core';
import { type Database, onlyRow, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, Shard } from '../../kernel/ids.ts';
import { isHome, pgArray } from '../../kernel/sql.ts';
import type { QueuedAccount, QueueEntry, QueuePosition } from '../queued-account.ts';
import type { PickedEntry } from '../round-plan.ts';

/** What a read of a shard leaves out of an account. */
export interface Skip {
  readonly account: AccountId;
  /** Events up to this position. Null: everything. */
  readonly through: QueuePosition | null;
}

/** What a read found of one account. */
export interface AccountRead {
  readonly accountId: AccountId;
  /** The first events, in the order of positions. */
  readonly entries: readonly QueueEntry[];
  /** The first changes of subscriptions, whatever events come before them. */
  readonly changes: readonly QueueEntry[];
}

interface Row {
  accountId: AccountId;
  entries: string | null;
  changes: string | null;
}

/** An account may have any number of changes, and each reads its subscription. */
const changesTogether = 64;

const positionMax = Number.MAX_SAFE_INTEGER;
const idMax = String(2n ** 63n - 1n);

// The columns of webhook_event_queue_by_account. All rows are compared and ordered by all of them, because with statistics of an
// empty queue PostgreSQL would read all entries of the shard from another index. Changes of subscriptions come before events.
const inOrder = 'account_id, (event_id is not null), position';

/** The first entries of `account` as one text, because pg needs more time for a row than PostgreSQL for the statement. */
const firstEntries = (condition: string, limit: string): string => `
        select string_agg(
          concat_ws(' ', position, coalesce(event_id, 0), coalesce(subscription_id, 0), takes), ',' order by position
        ) as list
        from (
          select position, event_id, subscription_id, takes from webhook_event_queue
          where shard = account.shard and blocked_on is null and ${condition}
          order by ${inOrder} limit ${limit}
        ) first`;

/** The first entries of each row of `account`. */
const readEntries = `
      select account.id as "accountId", entry.list as entries, change.list as changes
      from account
      cross join lateral (${firstEntries(
        `(${inOrder}) > (account.id, true, account.after) and account_id <= account.id`,
        'account.entries_max',
      )}) entry
      cross join lateral (${firstEntries(
        `(${inOrder}) > (account.id, false, 0) and (${inOrder}) < (account.id, true, 0)`,
        String(changesTogether),
      )}) change`;

/**
 * A condition: the row of the queue is the entry. Each of the two unique indexes serves it as a whole: with statistics of an empty queue,
 * PostgreSQL would read all of one that has the position behind a column that is not compared.
 *
 * @param entry a row with the account and the position
 */
export const isEntry = (row: string, entry: string): string =>
  `${row}.shard = (${entry}.account_id & 63)::smallint and ${row}.account_id = ${entry}.account_id
            and ${row}.position = ${entry}.position`;

/**
 * The `ctid` of an entry, looked up by itself. Null if there is none.
 *
 * @param entry as for `isEntry`
 * @param condition an additional one
 */
export const rowOfEntry = (entry: string, condition = ''): string => `(
          select ctid from webhook_event_queue entry_row
          where ${isEntry('entry_row', entry)}${condition}
          limit 1
        )`;

/** The first account with an entry between a place in the index and the end of a gap. */
const nextAccount = (above: string): string => `
            select account_id from webhook_event_queue
            where shard = gap.shard and (${inOrder}) > (${above}) and (${inOrder}) < (gap.below, gap.is_below_event, 0)
              and blocked_on is null
            order by ${inOrder} limit 1`;

const readQueueStatement = sql('fan-out-read-queue')`
      with account as (
        select gap.shard, found.account_id as id, $8::int as entries_max,
          case found.account_id when gap.above then gap.above_position when gap.below then gap.below_position else 0 end as after
        from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::bigint[])
          as gap (shard, above, above_position, below, is_below_event, below_position)
        cross join lateral (
          with recursive next as (
            (${nextAccount('gap.above, true, gap.above_position')})
            union all
            select step.account_id
            from next
            cross join lateral (${nextAccount(`next.account_id, true, ${positionMax}`)}) step
          )
          select account_id from next
        ) found
        where ${isHome('found.account_id')}
        limit $7
      )${readEntries}`;

/**
 * Finds up to `accountsMax` accounts with entries that are not left out, and reads up to `entriesMax` entries of each. Jumps from
 * account to account, so that the number of their entries does not matter, and over what is left out. Blocked entries and accounts
 * that are not at home are left out.
 * The skips of a shard are in the order of their accounts.
 *
 * Served by webhook_event_queue_by_account.
 */
export async function readQueue(
  database: Database,
  shards: readonly { readonly shard: Shard; readonly skips: readonly Skip[] }[],
  accountsMax: number,
  entriesMax: number,
): Promise<AccountRead[]> {
  // What is between two neighbors of the skips. The changes of an account are above its events that are left out.
  const gaps = shards.flatMap(({ shard, skips }) =>
    [...skips, undefined].map((below, index) => ({ shard, above: skips[index - 1], below })),
  );
  const rows = await database.query<Row & Record<string, unknown>>(readQueueStatement, [
    pgArray(gaps.map(({ shard }) => shard)),
    pgArray(gaps.map(({ above }) => above?.account ?? '0')),
    pgArray(gaps.map(({ above }) => above?.through ?? positionMax)),
    pgArray(gaps.map(({ below }) => below?.account ?? idMax)),
    pgArray(gaps.map(({ below }) => below !== undefined && below.through !== null)),
    pgArray(gaps.map(({ below }) => below?.through ?? 0)),
    accountsMax,
    entriesMax,
  ]);
  return rows.map(toAccountRead);
}

const readAccountsStatement = sql('fan-out-read-accounts')`
      with account as (
        select * from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::int[]) as known (shard, id, after, entries_max)
        where ${isHome('known.id')}
      )${readEntries}`;

/**
 * Reads the first `entriesMax` entries of accounts, except blocked ones, and events up to the position `after`.
 *
 * Served by webhook_event_queue_by_account.
 */
export async function readAccounts(
  database: Database,
  accounts: readonly (Pick<QueuedAccount, 'id' | 'shard' | 'after'> & { readonly entriesMax: number })[],
): Promise<AccountRead[]> {
  const rows = await database.query<Row & Record<string, unknown>>(readAccountsStatement, [
    pgArray(accounts.map(({ shard }) => shard)),
    pgArray(accounts.map(({ id }) => id)),
    pgArray(accounts.map(({ after }) => after)),
    pgArray(accounts.map(({ entriesMax }) => entriesMax)),
  ]);
  return rows.map(toAccountRead);
}

function toAccountRead({ accountId, entries, changes }: Row): AccountRead {
  return { accountId, entries: toEntries(entries), changes: toEntries(changes) };
}

function toEntries(list: string | null): QueueEntry[] {
  if (list === null) return [];
  return list.split(',').map((text) => {
    const [position, event = '0', subscription = '0', claims] = text.split(' ');
    return {
      position: Number(position),
      eventId: event === '0' ? null : toRecordId(event),
      subscriptionId: subscription === '0' ? null : toRecordId(subscription),
      claims: Number(claims),
      isCounted: false,
    };
  });
}

/** The last position that was drawn. Later entries have higher ones. */
export async function readLastPosition(database: Database): Promise<QueuePosition> {
  const statement = sql(
    'fan-out-read-last-position',
  )`select last_value::float8 as position from webhook_queue_position`;
  return onlyRow(await database.query<{ position: QueuePosition }>(statement, [])).position;
}

/**
 * Counts that this worker claims the entries, before it renders them. A call that is repeated adds nothing.
 *
 * Served by webhook_event_queue_identity or _pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function countEntryClaims(
  database: Database,
  workerId: WorkerId,
  entries: readonly PickedEntry[],
): Promise<void> {
  const statement = sql('fan-out-count-entry-takes')`
      with ${liveWorker},
      counted as (
        update webhook_event_queue q set takes = entry.claims + 1
        from worker, unnest($2::bigint[], $3::bigint[], $4::int[]) as entry (account_id, position, claims)
        where q.ctid = ${rowOfEntry('entry')} and ${isHome('q.account_id')}
        returning q.position
      )
      select exists (select from worker) as "isAlive", (select count(*) from counted)::int as counted`;
  const rows = await database.query<{ isAlive: boolean }>(statement, [
    workerId,
    pgArray(entries.map(({ account }) => account.id)),
    pgArray(entries.map(({ entry }) => entry.position)),
    pgArray(entries.map(({ entry }) => entry.claims)),
  ]);
  rowOfLiveWorker(rows, workerId);
}
