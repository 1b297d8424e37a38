-- A delivery need not wait for its retry if its last attempt began before a mark of its subscription. No migration and no app changes
-- the rows that wait. Workers of earlier releases ignore the marks, and write no last attempt: what they retry waits for its time.
-- The bounds hold for new rows: 0045 validates them.

alter table webhook_subscription
  -- The receiver worked again, or the owner resumed the subscription. At most once an hour.
  add column hastened_at timestamptz(3),
  -- The owner or an operator asked for everything that waits. At most once a minute.
  add column send_pending_at timestamptz(3),
  add constraint webhook_subscription_hastened_at_bounds
    check (hastened_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_send_pending_at_bounds
    check (send_pending_at between '1970-01-01Z' and '9999-12-31Z') not valid;
alter table webhook_pending_delivery
  -- When the last attempt began, or when its `Retry-After` ends. Later while a former owner may still record one. Null before the
  -- first one, and if a worker of an earlier release recorded the last one.
  add column last_attempt_at timestamptz(3),
  -- It failed in a way that ends when the receiver works again: no connection, a timeout, 429 or 5xx. Null if no worker of this or a
  -- later release recorded one.
  add column last_is_transient boolean;

grant update (hastened_at) on webhook_subscription to webhook_worker;
grant update (hastened_at, send_pending_at) on webhook_subscription to lender_api, partner_api, operator;
