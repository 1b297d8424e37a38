-- Deliveries that have failed for ever, which no alert has reported. For minutes: webhook_raise_alerts() deletes what it reports.
-- None for an alert: alerts about alerts would not end.
create table webhook_failure_to_report (
  subscription_id bigint not null,
  failed_at timestamptz(3) not null default now(),
  delivery_id bigint not null,
  primary key (subscription_id, failed_at, delivery_id)
);

alter table webhook_failure_to_report enable row level security;
create policy webhook_worker on webhook_failure_to_report to webhook_worker using (true);
grant select, insert on webhook_failure_to_report to webhook_worker;
