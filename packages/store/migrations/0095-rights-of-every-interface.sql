-- What every interface may do is data of the platform: rows of `shared_right` and `shared_policy`. Before, add_interface() copied what the
-- roles of all other interfaces had, so the first one of a database got nothing.

-- No app has a right on these tables.
create table shared_right (
  -- In the words of GRANT, for example `select on account`.
  words text primary key
);
create table shared_policy (
  relation text,
  -- `{role}` is the role of the interface, and `{interface}` a literal of its name.
  name text,
  -- What follows the table in CREATE POLICY.
  words text not null,
  primary key (relation, name)
);

insert into shared_right
select unnest(string_to_array($$select on account
select on account_away
select on account_home
select on api_client
select on api_key
update (last_used_at) on api_key
update (last_used_from) on api_key
update (last_used_version) on api_key
insert (account_id) on audit_entry
insert (action) on audit_entry
insert (actor) on audit_entry
insert (actor_type) on audit_entry
insert (address) on audit_entry
insert (details) on audit_entry
insert (interface) on audit_entry
insert (request_id) on audit_entry
insert (subject) on audit_entry
select on cost_bucket
update (points) on cost_bucket
update (settled_at) on cost_bucket
delete on idempotency_key
insert on idempotency_key
select on idempotency_key
update on idempotency_key
select (cell) on installation
select (only_row) on installation
insert (abilities) on portal_session
insert (account_id) on portal_session
insert (actor) on portal_session
insert (expires_at) on portal_session
insert (interface) on portal_session
insert (key_id) on portal_session
insert (link_hash) on portal_session
insert (return_url) on portal_session
insert (subscription_id) on portal_session
select on portal_session
update (expires_at) on portal_session
update (last_used_at) on portal_session
update (started_at) on portal_session
update (token_hash) on portal_session
execute on routine check_homes(accounts bigint[])
execute on routine end_process(app text, id uuid)
execute on routine issue_api_key(acting_key text, acting_session bigint, of_client bigint, replaced_key text, overlap_seconds integer, new_key_id text, new_key_hash bytea, new_name text, new_abilities text[], new_addresses cidr[], new_expires_at timestamp with time zone)
execute on routine record_use(app text, process_id uuid, counted_ms double precision, overflowed boolean, ended boolean, counted text, clients text[], versions text[], coordinates text[], counts bigint[])
execute on routine register_process(app text, id uuid, version text, digest text)
execute on routine revoke_api_key(acting_key text, acting_session bigint, revoked_key text)
execute on routine store_app_contracts(app text, contracts text)
execute on routine webhook_has_worker(account_id bigint)
execute on routine webhook_oldest_queued_event(account_id bigint)
execute on routine webhook_sends_request_headers()
execute on routine webhook_workers_lacking(event_types text[])
execute on routine webhook_workers_without(event_types text[])
select on schema_migration
usage on sequence audit_entry_number
usage on sequence record_number
select on sequence webhook_queue_position
usage on sequence webhook_queue_position
select on webhook_attempt
select on webhook_delivery
insert (account_id) on webhook_event
insert (event_type) on webhook_event
insert (id) on webhook_event
insert (interface) on webhook_event
insert (is_test) on webhook_event
insert (record_id) on webhook_event
insert (request_id) on webhook_event
insert (snapshot) on webhook_event
select on webhook_event
insert (account_id) on webhook_event_queue
insert (event_id) on webhook_event_queue
insert (interface) on webhook_event_queue
insert (subscription_id) on webhook_event_queue
select on webhook_exchange
select on webhook_failed_delivery
delete on webhook_handshake_count
insert on webhook_handshake_count
select on webhook_handshake_count
update on webhook_handshake_count
select on webhook_hour_statistics
select on webhook_payload
select on webhook_pending_delivery
select on webhook_receiver_state
insert (account_id) on webhook_replay
insert (delivery_id) on webhook_replay
insert (event_types) on webhook_replay
insert (from_id) on webhook_replay
insert (from_sequence) on webhook_replay
insert (interface) on webhook_replay
insert (last_id) on webhook_replay
insert (only_failed) on webhook_replay
insert (per_second) on webhook_replay
insert (subscription_id) on webhook_replay
insert (until_id) on webhook_replay
insert (until_sequence) on webhook_replay
select on webhook_replay
update (cancelled_at) on webhook_replay
select on webhook_retention
insert on webhook_subscription
select on webhook_subscription
update (callback_url) on webhook_subscription
update (deleted_at) on webhook_subscription
update (hastened_at) on webhook_subscription
update (last_read_at) on webhook_subscription
update (name) on webhook_subscription
update (next_secret_ciphertext) on webhook_subscription
update (owner_paused_at) on webhook_subscription
update (paused_at) on webhook_subscription
update (paused_reason) on webhook_subscription
update (request_header_ciphertext) on webhook_subscription
update (request_header_name) on webhook_subscription
update (request_header_origin) on webhook_subscription
update (rotation_ends_at) on webhook_subscription
update (rotation_started_at) on webhook_subscription
update (secret_ciphertext) on webhook_subscription
update (send_pending_at) on webhook_subscription
update (timeout_seconds) on webhook_subscription
update (url_number) on webhook_subscription
delete on webhook_subscription_event_type
insert on webhook_subscription_event_type
select on webhook_subscription_event_type
insert (interface) on webhook_subscription_sequence
insert (subscription_id) on webhook_subscription_sequence
select on webhook_subscription_sequence$$, E'\n'));

insert into shared_policy
select relation, '{role}', 'for all to {role} using (interface = {interface})'
from unnest(array[
  'account', 'api_client', 'api_key', 'cost_bucket', 'idempotency_key', 'webhook_attempt', 'webhook_delivery', 'webhook_event',
  'webhook_event_queue', 'webhook_failed_delivery', 'webhook_handshake_count', 'webhook_payload', 'webhook_pending_delivery',
  'webhook_replay', 'webhook_subscription_event_type', 'webhook_subscription_sequence'
]) relation
union all values
  ('account_home', '{role}', 'for select to {role} using (exists (select from account a where a.id = account_id))'),
  ('audit_entry', '{role}', $$for insert to {role} with check (interface = {interface} and actor_type = 'CLIENT')$$),
  -- What only commands of operators record.
  ('audit_entry', '{role}_actions', $$as restrictive for insert to {role}
    with check (action !~ '^((organization|member|secrets|database|cell)\.|referral\.(convert|decline)$)')$$),
  ('portal_session', '{role}_insert', 'for insert to {role} with check (interface = {interface} and key_id is not null)'),
  ('portal_session', '{role}_select', 'for select to {role} using (interface = {interface})'),
  ('portal_session', '{role}_update', 'for update to {role} using (interface = {interface})'),
  ('webhook_exchange', '{role}', 'for select to {role} using (interface = {interface})'),
  ('webhook_hour_statistics', '{role}', 'for select to {role} using (interface = {interface})'),
  ('webhook_receiver_state', '{role}',
    'for select to {role} using (exists (select from webhook_subscription s where s.id = subscription_id))'),
  ('webhook_subscription', '{role}', 'for all to {role} using (interface = {interface})
    with check (interface = {interface} and queue_position <= (select last_value from webhook_queue_position))');

do $do$
begin
  execute replace($schema$
    -- Grants to the role of an interface what every interface may do, and revokes what it has beyond that on these tables, sequences and
    -- routines. Creates the policies that it lacks: a migration that changes one of them drops it first. Grants nothing if there is no role.
    create function grant_shared_rights(name {schema}.interface_name) returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    as $$
    declare
      own_role constant regrole := to_regrole(quote_ident(role_of_interface(name)));
      own record;
    begin
      if own_role is null then
        return;
      end if;
      for own in select distinct split_part(words, ' on ', 2) as object from shared_right order by object loop
        execute format('revoke all on %s from %s', own.object, own_role);
      end loop;
      for own in select words from shared_right order by words loop
        execute format('grant %s to %s', own.words, own_role);
      end loop;
      for own in
        select s.relation, policy_name, replace(replace(s.words, '{role}', own_role::text), '{interface}', quote_literal(grant_shared_rights.name)) as words
        from shared_policy s, replace(s.name, '{role}', role_of_interface(grant_shared_rights.name)) as policy_name
        where not exists (select from pg_policy p where p.polrelid = to_regclass(quote_ident(s.relation)) and p.polname = policy_name)
        order by s.relation, policy_name
      loop
        execute format('create policy %I on %I %s', own.policy_name, own.relation, own.words);
      end loop;
    end
    $$;

    -- Creates the role of an interface, and grants it what every interface may do. Only the owner can call it, also again. An owner that
    -- may not create a role gets none: row-level security and the limits of a stolen login then need one.
    create or replace function add_interface(name {schema}.interface_name, account_type text) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own_role constant text := {schema}.role_of_interface(name);
    begin
      -- Roles belong to the whole cluster: the migration of another database may create it at this moment.
      if to_regrole(quote_ident(own_role)) is null then
        begin
          execute format('create role %I nologin', own_role);
        exception
          when duplicate_object or unique_violation then
            null;
          when insufficient_privilege then
            raise warning 'The login % may not create the role %, so logins of it have no rights and row-level security does not apply. Create it, and call add_interface() again.',
              session_user, own_role;
        end;
      end if;
      insert into {schema}.interface as i values (add_interface.name, add_interface.account_type)
      on conflict on constraint interface_pkey do update set account_type = excluded.account_type;
      perform {schema}.grant_shared_rights(add_interface.name);
      perform {schema}.guard_audit_entries();
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function grant_shared_rights from public;
