-- Webhook subscriptions, the outbox of events, lanes, deliveries and their attempts.

create table webhook_subscription (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null,
  callback_url text not null,
  -- AES-256-GCM with the subscription's id as associated data. Empty once the subscription is deleted.
  secret_ciphertext bytea not null,
  paused_reason text check (paused_reason in ('OWNER', 'GONE', 'FAILING', 'VERSION_RETIRED')),
  paused_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- No interface shows a deleted subscription or its deliveries.
  deleted_at timestamptz(3),
  foreign key (account_id, interface) references account (id, interface),
  check ((paused_reason is null) = (paused_at is null))
);
create index webhook_subscription_by_account on webhook_subscription (account_id, id) where deleted_at is null;

create table webhook_subscription_event_type (
  subscription_id bigint not null references webhook_subscription,
  interface interface_name not null,
  event_type text not null,
  -- The payload version that the subscription pins.
  event_version text not null,
  primary key (subscription_id, event_type)
);
create index webhook_subscription_event_type_by_version on webhook_subscription_event_type (event_type, event_version);

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
-- of the payload needs; rendering reads no other table.
create table outbox_event (
  id bigint primary key default new_record_id(),
  -- The order of fan-out. Ids do not give it: they follow the clock, and within one millisecond they wrap around.
  position bigint generated always as identity,
  account_id bigint not null,
  interface interface_name not null,
  event_type text not null,
  snapshot jsonb not null,
  occurred_at timestamptz(3) not null default now(),
  -- The id of the request that made the change, for the logs. Null for changes made by an operator.
  request_id text,
  -- When the deliveries of the event were created. Null before that.
  fanned_out_at timestamptz(3),
  -- Set when the event cannot be rendered. An operator has to investigate; later events do not wait for this one.
  fan_out_failed_at timestamptz(3),
  fan_out_error text,
  foreign key (account_id, interface) references account (id, interface)
);
create index outbox_event_queued on outbox_event (account_id, position)
  where fanned_out_at is null and fan_out_failed_at is null;
create index outbox_event_failed on outbox_event (fan_out_failed_at) where fan_out_failed_at is not null;

-- The body of a delivery, stored once per event and version. Every attempt sends the same bytes.
create table webhook_payload (
  event_id bigint not null references outbox_event,
  event_version text not null,
  interface interface_name not null,
  body bytea not null,
  primary key (event_id, event_version)
);

create table webhook_delivery (
  id bigint primary key default new_record_id(),
  subscription_id bigint not null references webhook_subscription,
  account_id bigint not null,
  interface interface_name not null,
  event_id bigint not null references outbox_event,
  event_version text not null,
  -- Numbers the deliveries of a subscription from 1, without gaps.
  sequence bigint not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED', 'EXPIRED')),
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  unique (event_id, subscription_id),
  unique (subscription_id, sequence)
);
create index webhook_delivery_by_account on webhook_delivery (account_id, id);
create index webhook_delivery_by_subscription on webhook_delivery (subscription_id, id);

-- Deliveries that are not finished. The rows are narrow, so that the table stays in memory while the history grows.
create table webhook_pending_delivery (
  delivery_id bigint primary key references webhook_delivery,
  subscription_id bigint not null,
  interface interface_name not null,
  -- As in webhook_delivery. Orders deliveries that are due at the same time.
  sequence bigint not null,
  due_at timestamptz(3) not null,
  -- The number of attempts made.
  attempts int not null default 0
);
create index webhook_pending_delivery_due on webhook_pending_delivery (subscription_id, due_at, sequence);

create table webhook_attempt (
  delivery_id bigint not null references webhook_delivery,
  -- Numbers the attempts of a delivery from 1.
  number int not null,
  interface interface_name not null,
  started_at timestamptz(3) not null,
  duration_ms int not null,
  -- Null if no response was received.
  response_status int,
  -- The class of the failure. Null if a complete response was received.
  error text,
  primary key (delivery_id, number)
);

-- One lane per subscription. Only the owner of a lane sends its deliveries, so that one process decides on the concurrency
-- and the order of a subscription, and a slow lane delays no other lane.
create table webhook_lane (
  subscription_id bigint primary key references webhook_subscription,
  interface interface_name not null,
  -- False while the subscription is paused.
  active boolean not null default true,
  -- When the next delivery is due. Null if no delivery is pending.
  due_at timestamptz(3),
  -- The process that holds the lane. Null if the lane is free.
  owner text,
  -- When the lease of the owner expires. After that, another process can acquire the lane.
  leased_until timestamptz(3),
  -- Increases with each owner. A write with a smaller token, from a former owner, changes nothing.
  fencing_token bigint not null default 0,
  -- The highest sequence assigned to a delivery.
  last_sequence bigint not null default 0
);
-- Most updates change due_at and the lease. Leave free space on each page for the new row versions.
alter table webhook_lane set (fillfactor = 70);
create index webhook_lane_due on webhook_lane (due_at) where active and due_at is not null;

alter table webhook_subscription enable row level security;
alter table webhook_subscription_event_type enable row level security;
alter table webhook_handshake_count enable row level security;
alter table outbox_event enable row level security;
alter table webhook_payload enable row level security;
alter table webhook_delivery enable row level security;
alter table webhook_pending_delivery enable row level security;
alter table webhook_attempt enable row level security;
alter table webhook_lane enable row level security;

do $$
declare
  table_name text;
begin
  foreach table_name in array array[
    'webhook_subscription', 'webhook_subscription_event_type', 'webhook_handshake_count', 'outbox_event',
    'webhook_payload', 'webhook_delivery', 'webhook_pending_delivery', 'webhook_attempt', 'webhook_lane'
  ] loop
    execute format('create policy lender_api on %I to lender_api using (interface = ''lender'')', table_name);
    execute format('create policy partner_api on %I to partner_api using (interface = ''partner'')', table_name);
    execute format('create policy webhook_worker on %I to webhook_worker using (true)', table_name);
    execute format('create policy operator on %I to operator using (true)', table_name);
  end loop;
end
$$;

grant select, insert, update on webhook_subscription to lender_api, partner_api;
grant select, insert, delete on webhook_subscription_event_type to lender_api, partner_api;
grant select, insert, update, delete on webhook_lane to lender_api, partner_api;
grant select, insert, update, delete on webhook_handshake_count to lender_api, partner_api;
grant select, insert on outbox_event to lender_api, partner_api;
grant select on webhook_delivery, webhook_attempt to lender_api, partner_api;
grant select, delete on webhook_pending_delivery to lender_api, partner_api;

grant select on webhook_subscription_event_type to webhook_worker;
grant select, update (paused_reason, paused_at) on webhook_subscription to webhook_worker;
grant select, update on webhook_lane, outbox_event to webhook_worker;
grant select, insert on webhook_payload, webhook_attempt to webhook_worker;
grant select, insert, update on webhook_delivery to webhook_worker;
grant select, insert, update, delete on webhook_pending_delivery to webhook_worker;

grant select, insert on outbox_event to operator;
grant select on webhook_subscription, webhook_subscription_event_type, webhook_delivery, webhook_pending_delivery,
  webhook_attempt, webhook_lane to operator;
