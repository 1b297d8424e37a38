import { type Database, sql } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';
import { groupIds } from './pages.ts';

export interface AttemptRow {
  deliveryId: DeliveryId;
  subscriptionId: SubscriptionId;
  number: number;
  startedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  error: string | null;
  /** What else is known about a failure. Null if nothing is. */
  detail: string | null;
  /** It and the two before it timed out although the receiver kept the connection open. */
  isThirdTimeout: boolean;
}

type StoredAttempt = Omit<AttemptRow, 'isThirdTimeout'>;

/** How many attempts before an attempt decide whether it is a third timeout. */
const earlierTimeouts = 2;

function hasTimedOut({ error, detail }: StoredAttempt): boolean {
  return error === 'TIMEOUT' && (detail === 'NO_RESPONSE' || detail === 'BODY_NOT_ENDED');
}

/** The newest attempts of a delivery, among those with a smaller number than `before`. */
export interface AttemptsPage {
  deliveryId: DeliveryId;
  /** Null starts with the newest attempt. */
  before: number | null;
  limit: number;
}

// Each attempt, including an earlier one, costs up to one buffer, each delivery three, and each day 3 locks.
const buffersPerStatement = 460;
const daysPerStatement = 14;

/**
 * Returns the attempts of each page, newest first. Pages with the same limit share statements, each of which reads a bounded
 * number of rows and partitions.
 */
export async function selectAttempts(database: Database, pages: readonly AttemptsPage[]): Promise<AttemptRow[][]> {
  const results = pages.map((): StoredAttempt[] => []);
  for (const [limit, indexes] of Map.groupBy(pages.keys(), (index) => pages[index]?.limit ?? 0)) {
    const entries = indexes.flatMap((index) => {
      const [page, rows] = [pages[index], results[index]];
      return page === undefined || rows === undefined ? [] : [{ ...page, rows }];
    });
    entries.sort((a, b) => (BigInt(a.deliveryId) > BigInt(b.deliveryId) ? -1 : 1));
    const ids = entries.map(({ deliveryId }) => deliveryId);
    const pagesPerStatement = Math.floor(buffersPerStatement / (limit + earlierTimeouts + 3));
    for (const group of groupIds(ids, pagesPerStatement, daysPerStatement)) {
      const read = entries.splice(0, group.length);
      for (const { page, ...row } of await selectGroup(database, read, limit)) read[page - 1]?.rows.push(row);
    }
  }
  return results.map((rows, index) =>
    rows.slice(0, pages[index]?.limit).map((row, at) => {
      const latest = rows.slice(at, at + 1 + earlierTimeouts);
      return { ...row, isThirdTimeout: latest.length > earlierTimeouts && latest.every(hasTimedOut) };
    }),
  );
}

const largestInt = 2_147_483_647;

/**
 * Served by webhook_attempt_pkey. The bounds of the ids select the partitions. Reads up to two more attempts than each page has.
 *
 * @param pages those of the newest deliveries first
 */
async function selectGroup(
  database: Database,
  pages: readonly AttemptsPage[],
  limit: number,
): Promise<(StoredAttempt & { page: number })[]> {
  const statement = sql('select-attempts', 'for-values')`
      select d.page::int, a.delivery_id as "deliveryId", a.subscription_id as "subscriptionId", a.number,
        a.started_at as "startedAt", a.duration_ms as "durationMs", a.response_status as "responseStatus", a.error, a.detail
      from unnest($1::bigint[], $2::int[]) with ordinality as d (id, before, page)
      cross join lateral (
        select *
        from webhook_attempt
        where delivery_id = d.id and delivery_id between $3::bigint and $4::bigint and number < d.before
        order by number desc
        limit $5
      ) a
      order by d.page, a.number desc`;
  return database.query<StoredAttempt & { page: number }>(statement, [
    pages.map(({ deliveryId }) => deliveryId),
    pages.map(({ before }) => before ?? largestInt),
    pages.at(-1)?.deliveryId,
    pages[0]?.deliveryId,
    limit + earlierTimeouts,
  ]);
}
