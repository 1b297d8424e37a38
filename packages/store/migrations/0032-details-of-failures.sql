-- What else is known about a failure than its status or the class of its error. Workers of earlier releases write none, and APIs of
-- earlier releases read none.

-- The cause of the error, or RETRY_AFTER_IGNORED if the response had a Retry-After that is not valid. Null if nothing else is known.
alter table webhook_attempt add column detail text;
