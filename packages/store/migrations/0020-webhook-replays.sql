-- Retries and replays of webhook deliveries. Workers of earlier releases neither read nor write what is new: they send a delivery
-- that was queued again like any other, and a retry or replay waits until the shard has an owner of this release.

alter table webhook_pending_delivery
  -- How many of the attempts belong to earlier sendings. The schedule of retries starts after them.
  add column prior_attempts int not null default 0,
  -- The retry or replay that queued the delivery again. Null for a delivery that fan-out queued.
  add column replay_id bigint;

-- A request to send deliveries again: one delivery, or those of a subscription in a range. It is in progress until one of both
-- times is set, or the subscription is deleted.
create table webhook_replay (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  -- See shardOf() in packages/webhooks.
  shard smallint not null generated always as ((account_id & 63)::smallint) stored,
  interface interface_name not null,
  subscription_id bigint not null,
  -- The only delivery of a retry. Null for a replay.
  delivery_id bigint,
  -- Null for all types.
  event_types text[],
  only_failed boolean not null,
  -- How many deliveries may be queued per second.
  per_second int not null check (per_second > 0),
  -- Ids and sequences of deliveries, the first one included, the last one not. Null sequences do not restrict the range.
  from_id bigint not null,
  until_id bigint not null,
  from_sequence bigint,
  until_sequence bigint,
  -- Everything up to this delivery is done. Written in the transaction that queues deliveries, by the owner of the shard only.
  last_id bigint not null,
  queued int not null default 0,
  -- Deliveries that could not be queued: without a payload, or pending already.
  skipped int not null default 0,
  created_at timestamptz(3) not null default now(),
  cancelled_at timestamptz(3),
  ended_at timestamptz(3),
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
);
create index webhook_replay_open on webhook_replay (shard, subscription_id)
  where ended_at is null and cancelled_at is null;
-- At most one replay of a subscription, and one retry of a delivery, is in progress.
create unique index webhook_replay_of_subscription on webhook_replay (subscription_id)
  where delivery_id is null and ended_at is null and cancelled_at is null;
create unique index webhook_replay_of_delivery on webhook_replay (delivery_id)
  where delivery_id is not null and ended_at is null and cancelled_at is null;
create index webhook_replay_by_account on webhook_replay (account_id, id) where delivery_id is null;
create index webhook_retry_by_account on webhook_replay (account_id, id) where delivery_id is not null;

alter table webhook_replay enable row level security;
create policy lender_api on webhook_replay to lender_api using (interface = 'lender');
create policy partner_api on webhook_replay to partner_api using (interface = 'partner');
create policy webhook_worker on webhook_replay to webhook_worker using (true);
create policy operator on webhook_replay to operator using (true);

-- What an app asks for, and that it no longer asks for it. The progress is the worker's to write.
grant select,
  insert (account_id, interface, subscription_id, delivery_id, event_types, only_failed, per_second, from_id, until_id,
    from_sequence, until_sequence, last_id),
  update (cancelled_at)
  on webhook_replay to lender_api, partner_api, operator;
grant select, update (last_id, queued, skipped, ended_at), delete on webhook_replay to webhook_worker;
