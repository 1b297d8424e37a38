import { toRecordId } from '@deedwire/domain';
import { type Database, onlyRow, ShortLivedMap } from '@deedwire/store';
import { rowOfLiveWorker } from '../../fence/row-of-live-worker.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import type { Shard } from '../../kernel/shard.ts';
import type { QueueRow } from '../known-entries.ts';
import type { QueueEntry, QueuePosition } from '../queue-entry.ts';
import type { ReadSnapshot } from '../shard-watermark.ts';

export interface QueueRead {
  readonly shard: Shard;
  readonly after: QueuePosition;
}

export interface QueueRows {
  /** In the order of their positions. */
  readonly rows: readonly QueueRow[];
  /** The last position that was read. Null if there are no further rows. */
  readonly last: QueuePosition | null;
}

interface FoundRows {
  /** The number of the read, from 1. */
  read: number;
  positions: string;
  accounts: string;
  events: string;
  subscriptions: string;
  claims: string;
}

/**
 * Reads the first `limit` entries of each shard after a position that are not blocked. Returns one row, because pg needs more time for 5,000
 * rows than PostgreSQL for the statement.
 *
 * Served by webhook_event_queue_ready.
 */
export async function readQueue(
  database: Database,
  reads: readonly QueueRead[],
  limit: number,
): Promise<{ snapshot: ReadSnapshot; results: QueueRows[] }> {
  const statement = {
    name: 'fan-out-read-queue',
    text: `
      select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, pg_snapshot_xmax(pg_current_snapshot())::text as xmax,
        coalesce(json_agg(found) filter (where found.positions is not null), '[]'::json) as found
      from unnest($1::smallint[], $2::bigint[]) with ordinality as read (shard, after, number)
      left join lateral (
        select read.number as read,
          string_agg(entry.position::text, ',' order by entry.position) as positions,
          string_agg(entry.account_id::text, ',' order by entry.position) as accounts,
          string_agg(coalesce(entry.event_id::text, ''), ',' order by entry.position) as events,
          string_agg(coalesce(entry.subscription_id::text, ''), ',' order by entry.position) as subscriptions,
          string_agg(entry.takes::text, ',' order by entry.position) as claims
        from (
          select position, account_id, event_id, subscription_id, takes
          from webhook_event_queue
          where shard = read.shard and position > read.after and blocked_on is null
          order by position
          limit $3
        ) entry
      ) found on true`,
  };
  const result = onlyRow(
    await database.query<{ xmin: string; xmax: string; found: FoundRows[] }>(statement, [
      pgArray(reads.map(({ shard }) => shard)),
      pgArray(reads.map(({ after }) => after)),
      limit,
    ]),
  );
  const rowsOf = new Map(result.found.map((found) => [found.read, toRows(found)]));
  return {
    snapshot: { xmin: BigInt(result.xmin), xmax: BigInt(result.xmax) },
    results: reads.map((_, index) => {
      const rows = rowsOf.get(index + 1) ?? [];
      return { rows, last: rows.length < limit ? null : (rows.at(-1)?.position ?? null) };
    }),
  };
}

function toRows({ positions, accounts, events, subscriptions, claims }: FoundRows): QueueRow[] {
  const accountIds = accounts.split(',');
  const eventIds = events.split(',');
  const subscriptionIds = subscriptions.split(',');
  const claimCounts = claims.split(',');
  // Equal ids share one string.
  const accountsByText = new ShortLivedMap<string, AccountId>();
  return positions.split(',').map((position, index) => {
    const text = accountIds[index] ?? '';
    let accountId = accountsByText.get(text);
    if (accountId === undefined) {
      accountId = toRecordId(text);
      accountsByText.set(text, accountId);
    }
    const eventId = eventIds[index] ?? '';
    const subscriptionId = subscriptionIds[index] ?? '';
    return {
      position: Number(position),
      accountId,
      eventId: eventId === '' ? null : toRecordId(eventId),
      subscriptionId: subscriptionId === '' ? null : toRecordId(subscriptionId),
      claims: Number(claimCounts[index]),
    };
  });
}

/**
 * Counts that this worker claims the entries, before it renders them. A call that is repeated adds nothing.
 *
 * Served by webhook_event_queue_pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function countEntryClaims(
  database: Database,
  workerId: WorkerId,
  entries: readonly { readonly shard: Shard; readonly entry: QueueEntry }[],
): Promise<void> {
  const statement = {
    name: 'fan-out-count-entry-takes',
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
      counted as (
        update webhook_event_queue q
        set takes = entry.claims + 1
        from worker, unnest($2::smallint[], $3::bigint[], $4::int[]) as entry (shard, position, claims)
        where q.ctid = (
          select ctid from webhook_event_queue where shard = entry.shard and position = entry.position limit 1
        )
        returning q.position
      )
      select exists (select from worker) as "isAlive", (select count(*) from counted)::int as counted`,
  };
  const rows = await database.query<{ isAlive: boolean }>(statement, [
    workerId,
    pgArray(entries.map(({ shard }) => shard)),
    pgArray(entries.map(({ entry }) => entry.position)),
    pgArray(entries.map(({ entry }) => entry.claims)),
  ]);
  rowOfLiveWorker(rows, workerId);
}
