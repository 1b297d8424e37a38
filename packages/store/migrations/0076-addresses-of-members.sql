-- no transaction
-- Takes the place of team_member_email in the next migration.
create unique index concurrently if not exists team_member_address on team_member (account_id, email);
