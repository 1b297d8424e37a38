-- Sessions from before have nulls, and fewer abilities. In a transaction of its own, so that sessions are authenticated meanwhile.
alter table portal_session
  validate constraint portal_session_invited_client_id_fkey,
  validate constraint portal_session_invited_abilities_bounds,
  validate constraint portal_session_invite_check,
  validate constraint portal_session_abilities_bounds;
-- portal_session_listed_by_account serves its statements.
drop index portal_session_by_account;
