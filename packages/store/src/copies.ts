import { callFunction } from './call-function.ts';
import { type Database, onlyRow, sql } from './database.ts';

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

/** Reads the tables as a whole. */
export async function selectOpenToOthers(database: Database): Promise<OpenToOthers> {
  const statement = sql('select-open-to-others')`
      select
        (
          select count(*) from webhook_subscription
          where kind = 'PUSH' and deleted_at is null and paused_reason is null
        )::int as "activeSubscriptions",
        (
          select count(*) from api_key k join api_client c on c.id = k.api_client_id
          where k.revoked_at is null and not exists (select from account_away a where a.account_id = c.account_id)
        )::int as keys,
        (
          select count(*) from portal_session s
          where s.expires_at > now() and not exists (select from account_away a where a.account_id = s.account_id)
        )::int as "portalSessions",
        (
          select count(*) from webhook_replay r
          where r.ended_at is null and r.cancelled_at is null
            and not exists (select from account_away a where a.account_id = r.account_id)
        )::int as replays,
        (select count(*) from webhook_event_queue where event_id is not null)::int as "queuedEvents",
        (select count(*) from webhook_pending_delivery)::int as "pendingDeliveries"`;
  return onlyRow(await database.query<OpenToOthers & { [column: string]: unknown }>(statement, []));
}

/** The results of the functions of migration 0071. */
interface Results {
  close_copy: unknown;
  expire_copied_deliveries: { subscription_id: string; delivery_id: string; expired: number };
  require_no_app: unknown;
}

/** Calls one of these functions. Returns its rows. @throws {Error} while an app uses the database */
export function callCopying<Name extends keyof Results>(
  database: Database,
  name: Name,
  ...values: readonly (number | string)[]
): Promise<Results[Name][]> {
  return callFunction(database, name, values, true);
}
