-- Every column that an app may write and another app reads has the bound that the code of the app enforces. Without it, one row of a
-- stolen login could fill the memory of all workers, or stop what reads the row. A test compares these bounds with the code. New rows
-- only: 0030 validates them. The statements of apps of the last release stay within all of them.
--
-- These columns are written by operators only, apart from last_used_at. In a migration of their own: whoever writes anything uses
-- the accounts.

alter table account
  add constraint account_id_bounds check (id > 0) not valid,
  add constraint account_name_bounds check (char_length(name) <= 200) not valid,
  add constraint account_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint account_webhook_listeners_forbidden_at_bounds
    check (webhook_listeners_forbidden_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table team_member
  add constraint team_member_first_name_bounds check (char_length(first_name) <= 200) not valid,
  add constraint team_member_last_name_bounds check (char_length(last_name) <= 200) not valid,
  add constraint team_member_email_bounds check (char_length(email) <= 254) not valid,
  add constraint team_member_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table matter
  add constraint matter_reference_bounds check (octet_length(reference) <= 100) not valid,
  add constraint matter_opened_at_bounds check (opened_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table api_client
  add constraint api_client_client_id_bounds check (octet_length(client_id) <= 100) not valid,
  add constraint api_client_schema_version_bounds check (octet_length(schema_version) <= 100) not valid,
  add constraint api_client_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table api_key
  add constraint api_key_key_id_bounds check (octet_length(key_id) <= 100) not valid,
  add constraint api_key_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint api_key_expires_at_bounds check (expires_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint api_key_revoked_at_bounds check (revoked_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint api_key_last_used_at_bounds check (last_used_at between '1970-01-01Z' and '9999-12-31Z') not valid;
