-- All accounts share the order of fan-out. A stolen login of an interface could write a position far ahead of the others, which
-- delayed its shard and kept every worker from starting.

-- An app names what is to be done. The position, the number of takes and the mark of a blocked entry are not its to write.
revoke insert on webhook_event_queue from lender_api, partner_api, operator;
grant insert (account_id, interface, event_id, subscription_id) on webhook_event_queue to lender_api, partner_api, operator;

-- The statement that creates a subscription draws its position from the sequence.
alter policy lender_api on webhook_subscription
  with check (interface = 'lender' and queue_position <= (select last_value from webhook_queue_position));
alter policy partner_api on webhook_subscription
  with check (interface = 'partner' and queue_position <= (select last_value from webhook_queue_position));
