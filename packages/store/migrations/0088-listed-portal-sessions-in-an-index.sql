-- no transaction
-- Serves the list of the sessions and invites of an account, and the end of sessions beyond 20.
create index concurrently if not exists portal_session_listed_by_account
  on portal_session (account_id, id) where token_hash is not null or invited_client_id is not null;
