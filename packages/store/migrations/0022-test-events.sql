-- Events that the owner of a subscription asks for, to test its receiver. A worker of an earlier release ignores the columns: it
-- delivers such an event like all others, without saying that it is a test. An API of an earlier release creates none.

alter table webhook_event add column is_test boolean not null default false;
-- As of the event.
alter table webhook_delivery add column is_test boolean not null default false;
alter table webhook_pending_delivery add column is_test boolean not null default false;

-- A row counts the handshakes of a minute, and the test events.
alter table webhook_handshake_count add column test_events int not null default 0;
