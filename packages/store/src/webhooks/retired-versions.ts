import type { RecordId } from '@deedwire/domain';
import type { Database } from '../store.ts';
import type { EventVersionRef } from './queue.ts';

// Also one whose URL fails: under that reason it would hold up the events of its whole account, as of a version that is not
// known yet, once no build knows the retired one. Whoever pins another version is active again, and paused again if the URL
// still fails. The owner's own pause stays.
const canBeRetired = `s.deleted_at is null and (s.paused_reason is null or s.paused_reason in ('GONE', 'FAILING'))`;

/**
 * Subscriptions that pin one of these versions and go on, or could without another pin. Served by
 * webhook_subscription_event_type_by_version.
 */
export async function selectSubscriptionsPinning(
  database: Database,
  versions: readonly EventVersionRef[],
): Promise<RecordId<'WebhookSubscription'>[]> {
  const statement = {
    name: 'select-subscriptions-pinning',
    text: `
      select distinct s.id
      from unnest($1::text[], $2::text[]) as v (event_type, event_version)
      join webhook_subscription_event_type t on t.event_type = v.event_type and t.event_version = v.event_version
      join webhook_subscription s on s.id = t.subscription_id
      where ${canBeRetired}`,
  };
  const rows = await database.query<{ id: RecordId<'WebhookSubscription'> }>(statement, [
    versions.map(({ type }) => type),
    versions.map(({ version }) => version),
  ]);
  return rows.map(({ id }) => id);
}

/**
 * Pauses subscriptions that pin a version which has come to its end, and their lanes with them, which must be locked. Served
 * by webhook_subscription_pkey and webhook_lane_pkey.
 */
export async function pauseRetiredSubscriptions(
  database: Database,
  ids: readonly RecordId<'WebhookSubscription'>[],
): Promise<void> {
  const statement = {
    name: 'pause-retired-subscriptions',
    text: `
      with paused as (
        update webhook_subscription s
        set paused_reason = 'VERSION_RETIRED', paused_at = coalesce(s.paused_at, now())
        where s.id = any ($1) and ${canBeRetired}
        returning s.id
      )
      update webhook_lane l
      set active = false
      from paused
      where l.subscription_id = paused.id`,
  };
  await database.query(statement, [ids]);
}
