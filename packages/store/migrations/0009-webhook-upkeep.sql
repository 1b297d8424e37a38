-- Deleted subscriptions whose pending deliveries and receiver state must still be deleted. Empty most of the time. Without a
-- foreign key, so that no lock of a subscription delays its worker.
create table webhook_deleted_backlog (
  shard smallint not null generated always as ((account_id & 63)::smallint) stored,
  subscription_id bigint not null,
  account_id bigint not null,
  primary key (shard, subscription_id)
);

grant select, insert, delete on webhook_deleted_backlog to webhook_worker;
grant select on webhook_deleted_backlog to operator;

-- How long a lease lasts. A lease that ends later was renewed before the clock was set back. Null for a worker of an earlier
-- release.
alter table webhook_worker add column lease_ms int;
