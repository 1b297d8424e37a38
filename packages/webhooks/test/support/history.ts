import { idAt, toRecordId, type AccountId, type RecordId } from '@deedwire/core';
import type { Connection } from '@deedwire/testing';
import type { EventId, SubscriptionId } from '../../src/kernel/ids.ts';
import { historyTables, partitionedTables, type PartitionedTable } from '../../src/retention/partitions.ts';

const dayMs = 86_400_000;

/** Creates the partitions of the last `days` days, which the worker would have created in time. */
export async function createPastPartitions(
  connection: Connection,
  days: number,
  tables: readonly PartitionedTable[] = historyTables,
): Promise<void> {
  await connection.run(`
    do $$
    declare
      parent text;
      day date;
    begin
      foreach parent in array array['${tables.join(`', '`)}'] loop
        for day in select (now() at time zone 'UTC')::date - n from generate_series(2, ${days}) n loop
          execute format('create table if not exists %I partition of %I for values from (%s) to (%s)', parent || to_char(day, '_YYYYMMDD'),
            parent, (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
        end loop;
      end loop;
    end
    $$`);
}

/** Two customer accounts with 20 subscriptions each. 2.5 % of the deliveries belong to 2,000 deleted subscriptions. */
export interface History {
  /** 95 % of all deliveries belong to the first subscription, 2.5 % to the next five, none to the others. */
  busy: { accountId: AccountId; subscriptionIds: SubscriptionId[] };
  /** One delivery, 30 days ago, to every second subscription. */
  quiet: { accountId: AccountId; subscriptionIds: SubscriptionId[] };
  /** 40 deliveries of the busy account are about this record, half of them pending, as of two events to 20 subscriptions. 2.4 % of all are about the one with the next id. */
  recordId: RecordId<'Order'>;
  /** An event about the record with the next id, older than all deliveries. It has none. */
  eventId: EventId;
}

export interface HistorySize {
  /** Deliveries of the last 36 days. A tenth failed, the others were delivered, some at the second attempt. */
  finished: number;
  /** Newer deliveries, which are pending. */
  pending: number;
}

/** Inserts the history of two accounts. `connection` must have all rights, and must not be in use. */
export async function fillHistory(connection: Connection, { finished, pending }: HistorySize): Promise<History> {
  const nowMs = Date.now();
  const idDaysAgo = (days: number): bigint => BigInt(idAt(new Date(nowMs - days * dayMs)));
  await createPastPartitions(connection, 38, partitionedTables);
  const account = async (number: number) => {
    const accountId = toRecordId<'Account'>(String(number));
    const subscriptionIds = Array.from({ length: 20 }, (_, index) =>
      toRecordId<'WebhookSubscription'>(String(idDaysAgo(37) + BigInt(number * 1000 + index))),
    );
    await connection.run(
      `with account as (
         insert into account (id, interface, organization_id, name) values ($1, 'customer', 1, 'Test')
       ),
       subscription as (
         insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
         select id, $1, 'customer', 'https://a.test/', '', 0 from unnest($2::bigint[]) id
       )
       insert into webhook_subscription_sequence select id, 'customer', 1 from unnest($2::bigint[]) id`,
      [accountId, subscriptionIds],
    );
    return { accountId, subscriptionIds };
  };
  await connection.run(`insert into organization (id, name) values (1, 'Test')`);
  const [busy, quiet] = [await account(1), await account(2)];

  await connection.run(`set session_replication_role = replica`);
  const deliveries = `
    select id, $1::bigint as account_id,
      case n % 40
        when 0 then ($4::bigint[])[1 + n / 40 % 5]
        when 20 then $5::bigint + n / 40 % 2000
        else $3::bigint
      end as subscription_id,
      'customer'::interface_name as interface, id - 1 as event_id, 'order.placed' as event_type,
      '2026-11-01' as event_version, now() as occurred_at, n as sequence,
      case when n % ($2::int / 20) = 7 then $7::bigint when n % 41 = 3 then $7::bigint + 1 else id - 2 end as record_id
    from (
      select n, ((($5::bigint + ($6::bigint - $5::bigint) / $2::int * n) >> 12) << 12) + (n & 4095) as id
      from generate_series(1, $2::int) n
    ) numbered`;
  const stored = `insert into webhook_delivery (id, account_id, subscription_id, interface, event_id, event_type, event_version,
      occurred_at, sequence, record_id) ${deliveries}`;
  const recordId = toRecordId<'Order'>(String(idDaysAgo(37)));
  const [dominant = busy.subscriptionIds[0], ...others] = busy.subscriptionIds;
  const parameters = (count: number, oldest: bigint, newest: bigint): unknown[] => [
    busy.accountId,
    count,
    dominant,
    others.slice(0, 5),
    oldest,
    newest,
    recordId,
  ];
  await connection.run(
    `with delivery as (${stored} returning id, subscription_id, sequence),
      attempt as (
        insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
        select id, number, subscription_id, 'customer', now(), 5,
          case when sequence % 10 = 9 or number < 1 + (sequence % 10 = 8)::int then 500 else 200 end
        from delivery, generate_series(1, 1 + (sequence % 10 = 8)::int) number
      )
    insert into webhook_failed_delivery select subscription_id, id, 'customer' from delivery where sequence % 10 = 9`,
    parameters(finished, idDaysAgo(36), idDaysAgo(0.1)),
  );
  await connection.run(
    `with delivery as (${stored} returning *)
    insert into webhook_pending_delivery
      (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
       due_at, body_bytes)
    select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, now(), 9
    from delivery`,
    parameters(pending, idDaysAgo(0.05), idDaysAgo(0)),
  );
  await connection.run(
    `with delivery as (
       insert into webhook_delivery
       select $1::bigint + number, $2, id, 'customer', 1, 'order.placed', '2026-11-01', now(), 1
       from unnest($3::bigint[]) with ordinality quiet (id, number)
       where number % 2 = 1
       returning id, subscription_id
     )
     insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
     select id, 1, subscription_id, 'customer', now(), 5, 200 from delivery`,
    [idDaysAgo(30), quiet.accountId, quiet.subscriptionIds],
  );
  await connection.run(
    `insert into webhook_payload (event_id, event_version, interface, body)
     select event_id, event_version, interface, '\\x7b7d' from webhook_delivery where event_id <> 1 on conflict do nothing`,
  );
  await connection.run(
    `insert into webhook_exchange (delivery_id, number, started_at, subscription_id, interface, url_number, request_headers,
       response_headers, body, body_bytes)
     select delivery_id, number, started_at, subscription_id, interface, 1, '{a,b}', '{a,b}',
       (select string_agg(decode(md5(delivery_id::text || part), 'hex'), '') from generate_series(1, 1024) part), 16384
     from (select * from webhook_attempt order by delivery_id desc limit 300) newest`,
  );
  const eventId = toRecordId<'WebhookEvent'>(String(idDaysAgo(36.5)));
  await connection.run(
    `insert into webhook_event (id, account_id, interface, event_type, snapshot, record_id)
     values ($1, $2, 'customer', 'order.placed', '{}', $3::bigint + 1)`,
    [eventId, busy.accountId, recordId],
  );
  await connection.run('update webhook_retention set expired_before = $1', [idDaysAgo(30)]);
  await connection.run(`set session_replication_role = default`);
  return { busy, quiet, recordId, eventId };
}
