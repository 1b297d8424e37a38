-- Webhook subscriptions, the outbox, deliveries and their attempts, and the workers that share them.
--
-- Events, payloads, deliveries and attempts are the history: partitioned by day, written once, never updated. No foreign key
-- leads into it. What is left to do is in two small tables, webhook_event_queue and webhook_pending_delivery.

create table webhook_subscription (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  -- See shardOf() in packages/webhooks.
  shard smallint not null generated always as ((account_id & 63)::smallint) stored,
  interface interface_name not null,
  -- Empty once the subscription is deleted.
  callback_url text not null,
  -- Counts the callback URLs. What is remembered about a receiver belongs to one of them.
  url_number int not null default 1,
  -- AES-256-GCM with the subscription's id as associated data. Empty once the subscription is deleted.
  secret_ciphertext bytea not null,
  paused_reason text check (paused_reason in ('OWNER', 'GONE', 'FAILING', 'VERSION_RETIRED')),
  paused_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- No interface shows a deleted subscription or its deliveries.
  deleted_at timestamptz(3),
  -- The position of the queue when the subscription was created. It receives events with a higher position. Ids and times do
  -- not decide that: the clock can be set back.
  queue_position bigint not null,
  foreign key (account_id, interface) references account (id, interface),
  -- Rows that belong to a subscription repeat its interface for row-level security.
  unique (id, interface),
  check ((paused_reason is null) = (paused_at is null))
);
create index webhook_subscription_by_account on webhook_subscription (account_id, id) where deleted_at is null;
create index webhook_subscription_by_shard on webhook_subscription (shard, id) where deleted_at is null;

create table webhook_subscription_event_type (
  subscription_id bigint not null,
  interface interface_name not null,
  event_type text not null,
  -- The payload version that the subscription pins.
  event_version text not null,
  primary key (subscription_id, event_type),
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
);
create index webhook_subscription_event_type_by_version on webhook_subscription_event_type (event_type, event_version);

-- The highest sequence of each subscription. A separate, narrow table, because fan-out updates it for every delivery.
create table webhook_subscription_sequence (
  subscription_id bigint primary key,
  interface interface_name not null,
  last_sequence bigint not null default 0,
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
) with (fillfactor = 50);

-- What is remembered about the receiver behind one callback URL of a subscription. No row: it has not failed. A row with
-- another url_number than the subscription has no meaning.
create table webhook_receiver_state (
  subscription_id bigint primary key references webhook_subscription,
  url_number int not null,
  -- Failed attempts since the last success, of any delivery.
  consecutive_failures int not null,
  -- Null while the breaker is closed.
  breaker_open_until timestamptz(3),
  breaker_probes int not null,
  -- Until when the receiver asked not to be called (Retry-After). Null if it did not.
  hold_until timestamptz(3),
  -- The first failure since the last success. Null if there was none.
  failing_since timestamptz(3)
) with (fillfactor = 50);

-- Counts the handshakes of an account per minute, to limit the requests that it can make us send.
create table webhook_handshake_count (
  account_id bigint not null,
  interface interface_name not null,
  minute timestamptz not null,
  handshakes int not null,
  primary key (account_id, minute),
  foreign key (account_id, interface) references account (id, interface)
);

-- The outbox. The transaction of a change inserts the event that reports it. `snapshot` contains everything that any version
-- of the payload needs; rendering reads no other table. `json`, because the worker needs the text: `jsonb` would be converted
-- twice.
create table webhook_event (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  event_type text not null,
  snapshot json not null,
  occurred_at timestamptz(3) not null default now(),
  -- The id of the request that made the change, for the logs. Null for changes made by an operator.
  request_id text,
  foreign key (account_id, interface) references account (id, interface)
) partition by range (id);

-- The body of a delivery, stored once per event and version. Every attempt sends the same bytes.
create table webhook_payload (
  event_id bigint not null,
  event_version text not null,
  interface interface_name not null,
  body bytea not null,
  primary key (event_id, event_version)
) partition by range (event_id);

-- Written once, at fan-out. The status follows from the tables below:
--   FAILED or EXPIRED  in webhook_failed_delivery
--   PENDING            in webhook_pending_delivery
--   DELIVERED          otherwise
create table webhook_delivery (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  subscription_id bigint not null,
  interface interface_name not null,
  event_id bigint not null,
  event_type text not null,
  event_version text not null,
  occurred_at timestamptz(3) not null,
  -- Numbers the deliveries of a subscription from 1, without gaps.
  sequence bigint not null
) partition by range (id);
create index webhook_delivery_by_subscription on webhook_delivery (subscription_id, id);

create table webhook_attempt (
  delivery_id bigint not null,
  -- Numbers the attempts of a delivery from 1.
  number int not null,
  subscription_id bigint not null,
  interface interface_name not null,
  started_at timestamptz(3) not null,
  duration_ms int not null,
  -- Null if no response was received.
  response_status int,
  -- The class of the failure. Null if a complete response was received.
  error text,
  primary key (delivery_id, number)
) partition by range (delivery_id);
-- The deliveries with the status DELIVERED.
create index webhook_attempt_successful on webhook_attempt (subscription_id, delivery_id)
  where error is null and response_status between 200 and 299;

-- Deliveries that are not finished, with all that sending needs apart from the body. Only the owner of the shard writes here.
create table webhook_pending_delivery (
  subscription_id bigint not null,
  delivery_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  event_id bigint not null,
  event_type text not null,
  event_version text not null,
  occurred_at timestamptz(3) not null,
  request_id text,
  -- As in webhook_delivery. Orders deliveries that are due at the same time.
  sequence bigint not null,
  due_at timestamptz(3) not null,
  -- The number of attempts made.
  attempts int not null default 0,
  -- How many workers took the delivery and died before they recorded an attempt.
  takes int not null default 0,
  -- The size of the body, so that a reader can bound how much it reads.
  body_bytes int not null,
  primary key (subscription_id, delivery_id)
);
create index webhook_pending_delivery_due on webhook_pending_delivery (subscription_id, due_at, sequence);

-- Deliveries that ended without success: FAILED, and EXPIRED if their id is below webhook_retention.expired_before.
create table webhook_failed_delivery (
  subscription_id bigint not null,
  delivery_id bigint not null,
  interface interface_name not null,
  primary key (subscription_id, delivery_id)
);

create table webhook_retention (
  only_row boolean primary key default true check (only_row),
  -- Deliveries with a smaller id have expired: their payloads are deleted.
  expired_before bigint not null default 0
);
insert into webhook_retention default values;

-- The order of fan-out. Ids do not give it: they follow the clock, and within one millisecond they wrap around.
create sequence webhook_queue_position;

-- What the owner of a shard has left to do for its accounts, in the order of position:
--   event_id                      fan out the event to the subscriptions of its account
--   event_id and subscription_id  fan out the event to this subscription only
--   subscription_id               the subscription was created, changed, paused, resumed or deleted
create table webhook_event_queue (
  shard smallint not null generated always as ((account_id & 63)::smallint) stored,
  position bigint not null default nextval('webhook_queue_position'),
  account_id bigint not null,
  interface interface_name not null,
  event_id bigint,
  subscription_id bigint,
  -- How many workers took the entry and died before they finished it.
  takes int not null default 0,
  primary key (shard, position),
  foreign key (account_id, interface) references account (id, interface),
  check (event_id is not null or subscription_id is not null)
);

-- A running worker process. The row is the fence: a statement that writes for the worker locks it `for key share` and writes
-- nothing unless it is alive.
create table webhook_worker (
  id bigint primary key generated always as identity,
  -- Host and process id, for operators.
  name text not null,
  -- False once another worker has taken over. It never becomes true again.
  alive boolean not null default true,
  -- True while the worker shuts down: it takes no shards, and records what it has in flight.
  leaving boolean not null default false,
  started_at timestamptz(3) not null default now(),
  leased_until timestamptz(3) not null
);

-- Every account belongs to one shard. Only the worker that owns the shard fans out and sends for its accounts.
create table webhook_shard (
  shard smallint primary key check (shard between 0 and 63),
  -- Null while no worker owns the shard.
  worker_id bigint references webhook_worker,
  -- An owner died, and what it left was not all taken since. It is counted first, in case it ended that process.
  recovering boolean not null default false
) with (fillfactor = 50);
insert into webhook_shard (shard) select generate_series(0, 63);

-- Creates the missing partitions of the history, from yesterday (the clock can be set back) to `days_ahead` days from today.
-- A partition holds the ids of one day, from midnight UTC. It is created and then attached, because `create table … partition
-- of` locks out every reader of the parent.
create procedure webhook_create_partitions(days_ahead int)
language plpgsql
as $$
declare
  parent text;
  day date;
  partition text;
  today date := (clock_timestamp() at time zone 'UTC')::date;
begin
  foreach parent in array array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] loop
    for day in select generate_series(today - 1, today + days_ahead, interval '1 day')::date loop
      partition := parent || to_char(day, '_YYYYMMDD');
      continue when to_regclass(partition) is not null;
      execute format('create table %I (like %I including defaults including constraints)',
        partition, parent);
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, partition,
        (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
    end loop;
  end loop;
end
$$;

-- Enough to start with. The worker keeps 60 days ahead.
call webhook_create_partitions(14);

-- The worker creates, detaches and drops partitions, which only the owner of a table may do. A role that may create roles, but
-- is no superuser, can hand over a table only to a role that it is a member of.
do $$
declare
  table_name text;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant webhook_worker to %I', current_user);
  end if;
  execute format('grant create on schema %I to webhook_worker', current_schema());
  for table_name in
    select c.relname
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and c.relname ~ '^webhook_(event|payload|delivery|attempt)(_\d{8})?$'
  loop
    execute format('alter table %I owner to webhook_worker', table_name);
  end loop;
end
$$;

do $$
declare
  table_name text;
begin
  foreach table_name in array array[
    'webhook_subscription', 'webhook_subscription_event_type', 'webhook_subscription_sequence', 'webhook_handshake_count',
    'webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_pending_delivery', 'webhook_failed_delivery',
    'webhook_attempt', 'webhook_event_queue'
  ] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy lender_api on %I to lender_api using (interface = ''lender'')', table_name);
    execute format('create policy partner_api on %I to partner_api using (interface = ''partner'')', table_name);
    execute format('create policy webhook_worker on %I to webhook_worker using (true)', table_name);
    execute format('create policy operator on %I to operator using (true)', table_name);
  end loop;
end
$$;

grant select, insert, update on webhook_subscription to lender_api, partner_api;
grant select, insert, delete on webhook_subscription_event_type to lender_api, partner_api;
grant select, insert on webhook_subscription_sequence to lender_api, partner_api;
grant insert on webhook_event, webhook_event_queue to lender_api, partner_api;
grant select, insert, update, delete on webhook_handshake_count to lender_api, partner_api;
grant select on webhook_event, webhook_delivery, webhook_pending_delivery, webhook_failed_delivery, webhook_attempt,
  webhook_retention to lender_api, partner_api;
grant usage, select on sequence webhook_queue_position to lender_api, partner_api;

grant select on webhook_subscription_event_type to webhook_worker;
grant select, update (paused_reason, paused_at) on webhook_subscription to webhook_worker;
grant select, update on webhook_subscription_sequence to webhook_worker;
grant select, insert, update, delete on webhook_receiver_state, webhook_pending_delivery, webhook_failed_delivery,
  webhook_event_queue, webhook_worker to webhook_worker;
grant select, update on webhook_shard, webhook_retention to webhook_worker;
grant usage, select on sequence webhook_queue_position to webhook_worker;

grant insert on webhook_event, webhook_event_queue to operator;
grant usage, select on sequence webhook_queue_position to operator;
grant select on webhook_subscription, webhook_subscription_event_type, webhook_subscription_sequence,
  webhook_receiver_state, webhook_event, webhook_delivery, webhook_pending_delivery, webhook_failed_delivery,
  webhook_attempt, webhook_retention, webhook_event_queue, webhook_worker, webhook_shard to operator;
