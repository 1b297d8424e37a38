-- The record that an event is about, by which its deliveries are found: the referral, the lender or the team member. Null for other
-- events, and for what apps of earlier releases write: APIs write no record, and workers copy none to the deliveries.

alter table webhook_event add column record_id bigint;
-- As of the event.
alter table webhook_delivery add column record_id bigint;

grant insert (record_id) on webhook_event to lender_api, partner_api, operator;
