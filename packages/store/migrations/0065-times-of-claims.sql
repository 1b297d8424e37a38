-- When workers claimed the delivery after another had died, since its last recorded attempt. Null for almost all. It replaces the number
-- `takes`.
alter table webhook_pending_delivery add column claimed_at timestamptz(3)[];

-- The claims of a delivery that failed because its workers died, or lost their leases. Null if an attempt or its rendering failed.
alter table webhook_failed_delivery add column claimed_at timestamptz(3)[];
