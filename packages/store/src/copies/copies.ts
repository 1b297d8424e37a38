import { callFunction } from '../statements/call-function.ts';
import { type Database, onlyRow } from '../statements/database.ts';

/** What a copy of a database has that reaches others, or lets them in. */
export interface OpenToOthers {
  activeSubscriptions: number;
  keys: number;
  /** Links too that were not opened. */
  portalSessions: number;
  replays: number;
  queuedEvents: number;
  pendingDeliveries: number;
}

/** @throws {Error} P0001 of PostgreSQL while an app uses the database */
export async function requireNoApp(database: Database): Promise<void> {
  await callFunction(database, 'require_no_app', []);
}

/**
 * Closes all of it but the pending deliveries, unless it is a dry run, and returns what was open. Reads the tables as a whole.
 *
 * @throws {Error} while an app uses the database
 */
export async function closeToOthers(database: Database, { isDryRun }: { isDryRun: boolean }): Promise<OpenToOthers> {
  return onlyRow(await callFunction<OpenToOthers>(database, 'close_copy', [isDryRun], true));
}

/** Subscription and delivery. */
export type DeliveryKey = readonly [string, string];

/**
 * Expires up to `batch` pending deliveries that follow a key.
 *
 * @returns null if there were none
 * @throws {Error} while an app uses the database
 */
export async function expireCopiedDeliveries(
  database: Database,
  after: DeliveryKey,
  batch: number,
): Promise<{ last: DeliveryKey; expired: number } | null> {
  const [found] = await callFunction<{ subscription_id: string; delivery_id: string; expired: number }>(
    database,
    'expire_copied_deliveries',
    [...after, batch],
    true,
  );
  return found === undefined ? null : { last: [found.subscription_id, found.delivery_id], expired: found.expired };
}
