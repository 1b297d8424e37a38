-- What happened to the deliveries of a subscription in an hour. Workers of earlier releases count nothing.
--
-- A worker counts in memory what it records, and writes the counts once a minute. Each process writes separate rows, as totals, so
-- that a repeated write counts once, and the counts of processes that send for a subscription one after the other add up.
-- No subscription has 2^31 attempts in an hour.
-- squawk-ignore-file prefer-bigint-over-int
create table webhook_hour_statistics (
  subscription_id bigint not null,
  hour timestamptz(3) not null,
  -- Of a process for the hour or a part of it: the time of its first count, and a random part.
  counter_id bigint not null,
  interface interface_name not null,
  delivered int not null,
  failed_attempts int not null,
  -- Deliveries that ended without success.
  failed int not null,
  -- From an event to its delivery. Null if nothing was delivered, or only what a retry or a replay queued.
  longest_wait_seconds int,
  -- To the minute. Null if nothing was delivered.
  last_delivered_at timestamptz(3),
  -- Changes at most once, so that the updates of a row change no index.
  has_delivered boolean not null generated always as (delivered > 0) stored,
  primary key (subscription_id, hour, counter_id)
) with (fillfactor = 50);
-- When something was last delivered.
create index webhook_hour_statistics_delivered on webhook_hour_statistics (subscription_id, hour, counter_id) where has_delivered;
-- Serves retention.
create index webhook_hour_statistics_by_hour on webhook_hour_statistics (hour);

alter table webhook_hour_statistics enable row level security;
create policy lender_api on webhook_hour_statistics for select to lender_api using (interface = 'lender');
create policy partner_api on webhook_hour_statistics for select to partner_api using (interface = 'partner');
create policy operator on webhook_hour_statistics for select to operator using (true);
create policy webhook_worker on webhook_hour_statistics to webhook_worker using (true);
grant select on webhook_hour_statistics to lender_api, partner_api, operator;
grant select, insert, update, delete on webhook_hour_statistics to webhook_worker;
