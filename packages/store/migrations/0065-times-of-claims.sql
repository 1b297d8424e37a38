-- When workers claimed the delivery that died before they recorded an attempt. Null for almost all. It replaces the number `takes`.
alter table webhook_pending_delivery add column claimed_at timestamptz(3)[];

-- The claims of a delivery that failed because its workers died. Null if an attempt or its rendering failed.
alter table webhook_failed_delivery add column claimed_at timestamptz(3)[];
