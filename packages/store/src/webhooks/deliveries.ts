import type { AccountId, RecordId } from '@deedwire/domain';
import { keysetConditions, type PageQuery } from '../page-query.ts';
import { firstRow, type Database } from '../store.ts';

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED' | 'EXPIRED';

export interface DeliveryRow {
  id: RecordId<'WebhookDelivery'>;
  subscriptionId: RecordId<'WebhookSubscription'>;
  sequence: string;
  status: DeliveryStatus;
  eventId: RecordId<'WebhookEvent'>;
  eventType: string;
  eventVersion: string;
  occurredAt: Date;
  /** When the next attempt is due. Null: none is planned. */
  dueAt: Date | null;
}

const selectFromDeliveries = `
  select d.id, d.subscription_id as "subscriptionId", d.sequence, d.status, d.event_id as "eventId",
    e.event_type as "eventType", d.event_version as "eventVersion", e.occurred_at as "occurredAt", p.due_at as "dueAt"
  from webhook_delivery d
  join webhook_subscription s on s.id = d.subscription_id and s.deleted_at is null
  join outbox_event e on e.id = d.event_id
  left join webhook_pending_delivery p on p.delivery_id = d.id and s.paused_at is null`;

/** Served by webhook_delivery_pkey. */
export async function selectDelivery(
  database: Database,
  accountId: AccountId,
  id: RecordId<'WebhookDelivery'>,
): Promise<DeliveryRow | null> {
  const statement = { name: 'select-delivery', text: `${selectFromDeliveries} where d.id = $2 and d.account_id = $1` };
  return firstRow(await database.query<DeliveryRow>(statement, [accountId, id]));
}

/**
 * Newest first. Served by webhook_delivery_by_account; for one subscription, the planner chooses between its indexes.
 *
 * @param filter null where it does not matter
 */
export async function selectDeliveries(
  database: Database,
  filter: {
    accountId: AccountId | null;
    subscriptionId: RecordId<'WebhookSubscription'> | null;
    status: DeliveryStatus | null;
  },
  page: PageQuery<'WebhookDelivery'>,
): Promise<DeliveryRow[]> {
  const values: unknown[] = [page.afterId, page.limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const status = filter.status === null ? '' : `d.status = ${parameter(filter.status)} and`;
  const subscription =
    filter.subscriptionId === null ? '' : `d.subscription_id = ${parameter(filter.subscriptionId)} and`;
  const list =
    filter.accountId === null
      ? 'd.id < coalesce($1::bigint, 9223372036854775807) order by d.id desc'
      : keysetConditions(['d.account_id', parameter(filter.accountId)], 'd.id', '$1');
  const statement = {
    // A statement of its own for each combination of filters.
    name: `select-deliveries-${filter.accountId !== null}-${filter.subscriptionId !== null}-${filter.status !== null}`,
    text: `
      ${selectFromDeliveries}
      where ${status} ${subscription} ${list}
      limit $2`,
  };
  return database.query<DeliveryRow>(statement, values);
}

/** Whoever asks: for the operator. Served by webhook_delivery_pkey. */
export async function selectDeliveryOfAnyAccount(
  database: Database,
  id: RecordId<'WebhookDelivery'>,
): Promise<DeliveryRow | null> {
  const statement = { name: 'select-delivery-of-any-account', text: `${selectFromDeliveries} where d.id = $1` };
  return firstRow(await database.query<DeliveryRow>(statement, [id]));
}

export interface AttemptRow {
  deliveryId: RecordId<'WebhookDelivery'>;
  number: number;
  startedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  error: string | null;
}

/** The latest attempts of each delivery, newest first. Served by webhook_attempt_pkey. */
export async function selectAttempts(
  database: Database,
  deliveryIds: readonly RecordId<'WebhookDelivery'>[],
  limitPerDelivery: number,
): Promise<AttemptRow[]> {
  const statement = {
    name: 'select-attempts',
    text: `
      select a.delivery_id as "deliveryId", a.number, a.started_at as "startedAt", a.duration_ms as "durationMs",
        a.response_status as "responseStatus", a.error
      from unnest($1::bigint[]) as d (id)
      cross join lateral (
        select *
        from webhook_attempt
        where delivery_id = d.id
        order by number desc
        limit $2
      ) a
      order by a.delivery_id, a.number desc`,
  };
  return database.query<AttemptRow>(statement, [deliveryIds, limitPerDelivery]);
}
