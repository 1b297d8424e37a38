-- replaces all before it
-- What a new database of the platform begins with: all that the files before this one make, without the tables, the types of events and the
-- interfaces that they made for the law firm. A database that has some of these files continues with them, and never gets this one.
--
-- Generated from them by `pnpm baseline`. The texts between the quotes of functions are theirs, with their spaces: a later migration that
-- changes a part of a text finds it in every database. `migrate` writes the schema for the names in braces.

-- Texts of functions name what comes later.
set local check_function_bodies = off;

-- The names of the interfaces. `migrate` adds those of the service.
create type interface_name as enum ();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- The database, and the ids of its records
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- The identity of this database. The migrator sets `deedwire.cell`. The row never changes: the ids of all records contain
-- the cell, and new_record_id() contains both numbers.
create table installation (
  only_row boolean default true check (only_row) primary key,
  -- Two databases whose records may meet need different cells.
  cell smallint not null check (cell between 0 and 1023),
  -- Hides from clients how many ids were drawn between two of theirs. All 64 bits are random: a UUID has its fixed bits in
  -- the middle.
  id_seed bigint not null,
  installation_id uuid not null default gen_random_uuid(),
  key_self_service boolean not null default true,
  -- Begins the names of the group roles. It never changes, because the roles, their policies and their logins exist. With the longest name of an
  -- interface and `_actions`, the name of a policy has 63 letters, and PostgreSQL would cut a longer one.
  role_prefix text not null default '' constraint installation_role_prefix_bounds check (role_prefix ~ '^([a-z][a-z0-9_]{0,18}_)?$')
);

-- Counts the ids of all tables. It must not be cached: sessions would count within one millisecond from distant numbers.
create sequence record_number;

-- The migrator sets `deedwire.cell` and `deedwire.role_prefix`.
insert into installation (cell, id_seed, role_prefix)
select coalesce(nullif(current_setting('deedwire.cell', true), ''), '0')::smallint,
  ('x' || left(uuid, 8) || right(uuid, 8))::bit(64)::bigint, coalesce(current_setting('deedwire.role_prefix', true), '')
from (select gen_random_uuid()::text as uuid) as random;

do $do$
declare
  own installation;
begin
  select * into own from installation;
  execute format($format$
    create function new_record_id() returns bigint
    language plpgsql volatile parallel unsafe
    as $function$
    declare
      ms bigint;
      number bigint;
    begin
      for attempt in 1..8 loop
        ms := floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - 1767225600000;
        number := nextval(%L::regclass);
        exit when ms = floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - 1767225600000;
      end loop;
      if ms not between 1 and 2199023255551 then
        raise exception 'The clock of the database server is at %%. Record ids need a time from 2026 to 2095.',
          clock_timestamp();
      end if;
      return (ms << 22) | %s | ((number + (hashint8extended(ms, %L::bigint) & 4095)) & 4095);
    end
    $function$
  $format$, format('%I.record_number', current_schema()), own.cell::bigint << 12, own.id_seed);
end
$do$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Interfaces, and what the database knows of the service
-- -----------------------------------------------------------------------------------------------------------------------------------------

create table interface (
  name interface_name primary key,
  -- The type of its accounts in global identifiers.
  account_type text not null constraint interface_account_type_bounds check (account_type ~ '^[A-Z][A-Za-z0-9]{0,62}$') unique
);

create table event_type (
  type text primary key,
  -- Those whose accounts have it.
  interfaces interface_name[] not null,
  -- The type of the record that it is about. Null: it reports no change of a record.
  record_type text,
  -- The paths of the members that every snapshot has, for example `order` and `order.id`: those that all releases append.
  required text[] not null,
  -- The paths of the members that identify the person of the record, and of those that have the address.
  persons text[] not null,
  addresses text[] not null
);

create table person_table (
  relation text primary key,
  -- The type of the records.
  record_type text not null,
  -- The columns that identify, and those of them that have the address. A later migration can have dropped some.
  columns text[] not null,
  addresses text[] not null,
  -- The members of saved results whose values an idempotency key can contain.
  known_by text[] not null
);

create table audit_action (
  action text primary key,
  -- No interface may record it, in any release that has registered it.
  of_operators boolean not null,
  -- It removes the record that it is about, in a release that has registered it.
  removes boolean not null
);

-- No app has a right on these tables.
create table own_table (
  relation text primary key,
  of_interface interface_name not null,
  -- The table to whose `id` the column leads. Null: `account`.
  parent text,
  column_name text not null,
  foreign key (of_interface) references interface (name),
  foreign key (parent) references own_table (relation)
);

create table own_sequence (
  sequence text primary key,
  -- The rows with its numbers: at the end of the column.
  relation text not null,
  column_name text not null,
  foreign key (relation) references own_table (relation)
);

create table app_migration (
  -- The name of the file without its extension.
  name text primary key,
  -- SHA-256 of the file, in hexadecimal.
  checksum text not null,
  applied_at timestamptz(3) not null default now()
);

-- No app has a right on these tables.
create table shared_right (
  -- In the words of GRANT, for example `select on account`.
  words text primary key
);

create table shared_policy (
  relation text not null,
  -- `{role}` is the role of the interface, and `{interface}` a literal of its name.
  name text not null,
  -- What follows the table in CREATE POLICY.
  words text not null,
  primary key (relation, name)
);

-- Holds the prefix of `installation` as a literal, so that PostgreSQL inlines it. Apps read it in the catalog, as a login of no group role can,
-- too.
do $do$
begin
  execute format('create function role_prefix() returns text language sql immutable return %L', (select role_prefix from installation));
end
$do$;

-- The name of the group role of an app: '<interface>-api', 'webhook-worker' or 'operator-cli'.
create function role_name(app text) returns text
language sql immutable
return {schema}.role_prefix() || case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end;

create function role_of_interface(name interface_name) returns text
language sql stable
return {schema}.role_name(name::text || '-api');

-- For functions of the owner. The role whose members are the logins of an app: its group role, or the owner if the migrations have
-- granted nothing to a role of this name. The right that they grant to every group role tells, because only the owner can grant it.
create function role_of_app(app text) returns oid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      role constant regrole := to_regrole(quote_ident({schema}.role_name(app)));
    begin
      if role is not null and exists (
        select
        from pg_class c
        where c.oid = '{schema}.schema_migration'::regclass and c.relacl @> makeaclitem(role, c.relowner, 'SELECT', false)
      ) then
        return role;
      end if;
      return quote_ident(current_user)::regrole;
    end
    $$;

-- For functions of the owner. Whether the database has a role for an app: '<interface>-api', 'webhook-worker' or 'operator-cli'. A role
-- of the name that another database of the cluster has does not count.
create function has_role(app text) returns boolean
language sql stable
return coalesce(to_regrole(quote_ident({schema}.role_name(app)))::oid = {schema}.role_of_app(app), false);

-- Runs grants and policies for the role of an app, as has_role() takes it. `{role}` is its name. Does nothing in a database without
-- this role. Only the owner can call it.
create function for_app(app text, statements text) returns void
language plpgsql
set search_path = {schema}, pg_temp
as $$
    begin
      if has_role(app) then
        execute replace(statements, '{role}', to_regrole(quote_ident(role_name(app)))::text);
      end if;
    end
    $$;

-- For functions of the owner. The apps of which the session has a login.
create function apps_of_session() returns text[]
language sql stable
return array(
  select known.app
  from (select i.name || '-api' from {schema}.interface i union all values ('webhook-worker'), ('operator-cli')) as known (app)
  where pg_has_role(session_user, {schema}.role_of_app(known.app), 'member')
  order by known.app
);

-- For functions of the owner. The owner counts as an operator.
create function session_is_operator() returns boolean
language sql stable
return pg_has_role(session_user, {schema}.role_of_app('operator-cli'), 'member') or pg_has_role(session_user, current_user, 'member');

-- Refuses a login of another app, and one of several apps, such as that of a pooler. The owner of the tables can be each of them.
create function check_app_of_session(app text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      own constant text[] := {schema}.apps_of_session();
    begin
      if own = array[app] or app = any (own) and pg_has_role(session_user, current_user, 'member') then
        return;
      end if;
      raise exception using
        errcode = 'insufficient_privilege',
        message = format('The login %s cannot record for %s: it is a login of %s.',
          session_user, app, coalesce(nullif(array_to_string(own, ' and '), ''), 'no app'));
    end
    $$;

-- Refuses while an app uses the database, and keeps workers from starting until the end of the transaction. The owner may be unable
-- to read the name of a session. Its login tells then: it has the rights of an app, and not those of an operator or of the owner.
create function require_no_app() returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      app text;
      lease timestamptz;
    begin
      select coalesce(named, 'the login ' || usename) into app
      from pg_stat_activity
      cross join substring(application_name from '^deedwire-(webhook-worker|.*-api)') as named
      where datname = current_database() and (
        named is not null
        or not pg_has_role(usesysid, {schema}.role_of_app('operator-cli'), 'member')
        and not pg_has_role(usesysid, current_user, 'member') and (
          pg_has_role(usesysid, {schema}.role_of_app('webhook-worker'), 'member')
          or exists (
            select from unnest(enum_range(null::{schema}.interface_name)) as name
            where pg_has_role(usesysid, {schema}.role_of_app(name || '-api'), 'member')
          )
        )
      )
      order by named
      limit 1;
      if app is not null then
        raise exception 'A process of % is connected to this database. Check that it is the one that you mean, stop all apps of it, and try again.', app;
      end if;
      -- Before the lock, which a worker that renews its lease would wait for.
      for attempt in 1..2 loop
        select max(leased_until) into lease from {schema}.webhook_worker where alive and leased_until > clock_timestamp();
        if lease is not null then
          raise exception 'A worker has a lease on this database until %. Check that it is the one that you mean, stop all workers of it, and try again after this time.',
            to_char(lease at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
        end if;
        lock table {schema}.webhook_worker in share mode;
      end loop;
    end
    $$;

-- Grants to the role of an interface what every interface may do, and revokes what it has beyond that on these tables, sequences and
-- routines. Creates the policies that it lacks: a migration that changes one of them drops it first. Grants nothing if there is no role.
create function grant_shared_rights(name interface_name) returns void
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
create function add_interface(name interface_name, account_type text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      own_role constant text := {schema}.role_of_interface(name);
      found_role pg_roles;
      members text;
    begin
      -- Two names with one role would be one interface.
      if name::text !~ '^[a-z]+(-[a-z]+)*$' or length(name::text) > 31 or name::text ~ '^pg(-|$)' then
        raise exception 'The name of the interface % must consist of lowercase words with hyphens between them, of at most 31 characters, and not begin with the word pg.', name;
      end if;
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
      select r.* into found_role from pg_roles r where r.rolname = own_role;
      if found_role.rolcanlogin or found_role.rolsuper or found_role.rolbypassrls or found_role.rolcreaterole then
        raise exception 'The role % exists and is no group role of the interface %: it can log in, or has a right that no app needs. Rename it, or run: alter role %I nologin nosuperuser nobypassrls nocreaterole',
          own_role, name, own_role;
      end if;
      -- Before it has a right in this database. Another database of the cluster can have the same interface.
      if {schema}.role_of_app(name::text || '-api') is distinct from found_role.oid then
        select string_agg(quote_ident(r.rolname), ', ' order by r.rolname) into members
        from pg_roles r
        where r.rolcanlogin and not r.rolsuper and r.rolname <> current_user and pg_has_role(r.oid, found_role.oid, 'member');
        if members is not null then
          raise warning 'The role % existed before, with the logins %. They can do all that the interface % can in this database, too, unless you revoke their right to connect.',
            own_role, members, name;
        end if;
      end if;
      insert into {schema}.interface as i values (add_interface.name, add_interface.account_type)
      on conflict on constraint interface_pkey do update set account_type = excluded.account_type;
      perform {schema}.grant_shared_rights(add_interface.name);
      perform {schema}.guard_audit_entries();
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Organizations, accounts and their clients
-- -----------------------------------------------------------------------------------------------------------------------------------------

create table organization (
  id bigint default new_record_id() primary key,
  name text not null,
  created_at timestamptz(3) not null default now()
);

create table account (
  id bigint default new_record_id() primary key constraint account_id_bounds check (id > 0),
  interface interface_name not null,
  organization_id bigint not null references organization,
  name text not null constraint account_name_bounds check (char_length(name) <= 200),
  created_at timestamptz(3) not null default now()
    constraint account_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z'),
  webhook_listeners_forbidden_at timestamptz(3)
    constraint account_webhook_listeners_forbidden_at_bounds check (webhook_listeners_forbidden_at between '1970-01-01Z' and '9999-12-31Z'),
  unique (id, interface)
);
-- Serves `deedwire-operator account list --organization`. Few rows, and only operators insert accounts: no app waits for the lock.
create index account_by_organization on account (organization_id, id);

create table api_client (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  -- The value of the header X-Service-Client-Id.
  client_id text not null unique constraint api_client_client_id_bounds check (octet_length(client_id) <= 100),
  -- The interface version of requests that name no version. Never null: an unpinned client would change version with each
  -- release.
  schema_version text not null constraint api_client_schema_version_bounds check (octet_length(schema_version) <= 100),
  created_at timestamptz(3) not null default now()
    constraint api_client_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z'),
  cost_maximum int not null default 2000 check (cost_maximum between 1000 and 1000000000),
  cost_restore_rate int not null default 200 check (cost_restore_rate between 1 and 1000000000),
  unique (id, interface),
  foreign key (account_id, interface) references account (id, interface)
);
create index api_client_by_account on api_client (account_id, id);

create table api_key (
  key_id text primary key constraint api_key_key_id_bounds check (octet_length(key_id) <= 100),
  api_client_id bigint not null,
  interface interface_name not null,
  -- SHA-256 of the complete key.
  key_hash bytea not null check (length(key_hash) = 32),
  created_at timestamptz(3) not null default now()
    constraint api_key_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z'),
  expires_at timestamptz(3) constraint api_key_expires_at_bounds check (expires_at between '1970-01-01Z' and '9999-12-31Z'),
  revoked_at timestamptz(3) constraint api_key_revoked_at_bounds check (revoked_at between '1970-01-01Z' and '9999-12-31Z'),
  -- Updated at most once a minute.
  last_used_at timestamptz(3) constraint api_key_last_used_at_bounds check (last_used_at between '1970-01-01Z' and '9999-12-31Z'),
  abilities text[] not null default array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ']
    constraint api_key_abilities_bounds check (
      array_ndims(abilities) = 1 and abilities @> array['READ']
      -- Each at most once, and no others.
      and cardinality(abilities) = ('READ' = any (abilities))::int + ('READ_PAYLOAD' = any (abilities))::int
        + ('OPERATE' = any (abilities))::int + ('CONFIGURE' = any (abilities))::int + ('WRITE' = any (abilities))::int
        + ('MANAGE_KEYS' = any (abilities))::int
      and (abilities @> array['READ_PAYLOAD'] or not abilities @> array['CONFIGURE'])
    ),
  -- Null: an operator has issued the key without a name.
  name text constraint api_key_name_bounds check (char_length(name) between 1 and 100),
  -- Null: the key is accepted from any address.
  addresses cidr[]
    constraint api_key_addresses_bounds check (
      array_ndims(addresses) = 1 and cardinality(addresses) between 1 and 20 and array_position(addresses, null) is null
    ),
  -- The key, and of a session its actor, that created this one. Null: an operator. The key can be deleted.
  created_by_key text constraint api_key_created_by_key_bounds check (octet_length(created_by_key) <= 100),
  created_by_actor text constraint api_key_created_by_actor_bounds check (char_length(created_by_actor) <= 100),
  -- The key that has replaced this one, which ends with the overlap. It can be deleted.
  replaced_by text constraint api_key_replaced_by_bounds check (octet_length(replaced_by) <= 100),
  -- Written with `last_used_at`. Personal data: forget_ended_api_keys() deletes it.
  last_used_from inet,
  last_used_version text constraint api_key_last_used_version_bounds check (octet_length(last_used_version) <= 100),
  -- When `api_key.expiring` was appended last. Null: never.
  expiry_reported_at timestamptz(3)
    constraint api_key_expiry_reported_at_bounds check (expiry_reported_at between '1970-01-01Z' and '9999-12-31Z'),
  foreign key (api_client_id, interface) references api_client (id, interface)
);
create index api_key_by_client on api_key (api_client_id, created_at);
-- Serves forget_ended_api_keys() and report_expiring_api_keys().
create index api_key_by_end on api_key (least(revoked_at, expires_at));

create table idempotency_key (
  account_id bigint not null,
  interface interface_name not null,
  mutation text not null constraint idempotency_key_mutation_bounds check (octet_length(mutation) <= 100),
  key text not null constraint idempotency_key_key_bounds check (octet_length(key) <= 64),
  -- SHA-256 of the mutation's input in canonical form.
  input_hash bytea not null,
  -- The request that holds the key. Another request can take over an expired claim, whose process has died.
  claim uuid not null,
  claimed_until timestamptz(3) not null,
  -- The payload to return when the request is repeated. Null while the first request is in progress.
  payload jsonb,
  -- The encrypted secret in the payload. Null if the payload contains no secret.
  secret_ciphertext bytea constraint idempotency_key_secret_ciphertext_bounds check (octet_length(secret_ciphertext) <= 155),
  -- The record that the request created. Null if no record of the mutation can be deleted.
  record_id bigint,
  -- The record was deleted. The row then keeps only the fact that the key was used.
  record_deleted boolean not null default false,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, mutation, key),
  foreign key (account_id, interface) references account (id, interface)
);
create index idempotency_key_by_age on idempotency_key (created_at);

-- The points that no process holds. Each process takes points from here and spends them without the database.
create table cost_bucket (
  api_client_id bigint primary key,
  interface interface_name not null,
  -- At `settled_at`, and at most `api_client.cost_maximum`, which may have been lowered since. Negative after an outage in which
  -- the processes spent points that they had not taken.
  points double precision not null
    constraint cost_bucket_points_bounds check (points >= '-1000000000'::int::double precision and points <= 1000000000::double precision),
  settled_at timestamptz not null default clock_timestamp()
    constraint cost_bucket_settled_at_bounds check (settled_at between '1970-01-01Z' and '9999-12-31Z'),
  foreign key (api_client_id, interface) references api_client (id, interface)
) with (fillfactor = 50);

-- For functions of the owner. False for an account of another interface than those of the login, and for one that does not exist.
create function session_sees_account(account_id bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select exists (
        select
        from {schema}.account a
        where a.id = $1 and (
          pg_has_role(session_user, {schema}.role_of_app(a.interface::text || '-api'), 'member')
          or pg_has_role(session_user, {schema}.role_of_app('webhook-worker'), 'member') or {schema}.session_is_operator()
        )
      )
    $$;

-- A trigger, because the previous release of the operator's commands also creates clients.
create function create_cost_bucket() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      insert into {schema}.cost_bucket (api_client_id, interface, points) values (new.id, new.interface, new.cost_maximum)
      -- A restored dump can contain the bucket already.
      on conflict (api_client_id) do nothing;
      return null;
    end
    $$;

-- A debt counts at most as the size of the bucket, as in settleCostBucket().
create function bound_debt() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    begin
      new.points := greatest(new.points, -(select c.cost_maximum from {schema}.api_client c where c.id = new.api_client_id));
      return new;
    end
    $$;

-- Deletes up to `batch` keys that are older than 24 hours, and returns their number. It runs with the rights of the owner, so
-- that the worker needs no right to read them.
create function delete_expired_idempotency_keys(batch int) returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      with expired as (
        select account_id, mutation, key
        from {schema}.idempotency_key
        where created_at < now() - interval '24 hours' and not exists (select from {schema}.account_away a where a.account_id = idempotency_key.account_id and a.is_frozen)
        order by created_at
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.idempotency_key k
        using expired e
        where k.account_id = e.account_id and k.mutation = e.mutation and k.key = e.key
        returning 1
      )
      select count(*) from deleted
    $$;

create trigger create_cost_bucket after insert on api_client for each row execute function create_cost_bucket();
create trigger bound_debt before update of points on cost_bucket for each row when (new.points < '-1000'::int::double precision) execute
  function bound_debt();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Where accounts are at home
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- No row: the account is at home. A row of the own cell that is not frozen says the same, and is deleted instead.
create table account_home (
  account_id bigint primary key references account,
  -- The cell that owns the account, or will.
  cell smallint not null constraint account_home_cell_bounds check (cell between 0 and 1023),
  -- Not null: the account leaves. Its changes are refused until the split ends or is aborted. From next_freeze().
  frozen_at timestamptz(3) constraint account_home_frozen_at_bounds check (frozen_at between '1970-01-01Z' and '9999-12-31Z')
);
create index account_home_frozen on account_home (frozen_at) where (frozen_at is not null);

-- The accounts that no app may change, and unless they are frozen, may not be read either.
create view account_away with (security_invoker = true) as
 select account_id,
    frozen_at is not null as is_frozen
   from account_home
  where frozen_at is not null or cell <> (( select installation.cell
           from installation
          where installation.only_row));

-- As account_home, for the accounts that an organization would get.
create table organization_home (
  organization_id bigint primary key references organization,
  cell smallint not null check (cell between 0 and 1023),
  frozen_at timestamptz(3)
);

-- The splits of this cell. The new side has a copy of its row.
create table cell_split (
  id uuid default gen_random_uuid() primary key,
  from_cell smallint not null,
  to_cell smallint not null check (to_cell between 0 and 1023),
  organization_ids bigint[] not null,
  -- The standbys of the old side when the split was prepared, by `application_name`, one as often as there are standbys with this name.
  standbys text[] not null constraint cell_split_standbys_bounds check (octet_length(array_to_string(standbys, ' ')) <= 10000),
  prepared_at timestamptz(3) not null default now(),
  -- Null until no transaction and no attempt from before the freeze is open. What these wrote is before `freeze_lsn`.
  frozen_at timestamptz(3),
  freeze_lsn pg_lsn,
  promoted_at timestamptz(3),
  activated_at timestamptz(3),
  aborted_at timestamptz(3)
);
-- One at a time.
create unique index cell_split_open on cell_split ((true)) where ((activated_at is null) and (aborted_at is null));

-- The time of a new freeze, later than those that workers know, whatever the clock says. Freezing holds
-- `lock table account_home in share update exclusive mode` from before this call to its commit, so that freezes take turns.
create function next_freeze() returns timestamptz
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      select greatest(
        clock_timestamp(),
        (select max(frozen_at) + interval '1 ms' from {schema}.account_home),
        (select max(quiet_at) + interval '1 ms' from {schema}.webhook_worker)
      )::timestamptz(3)
    $$;

-- Refuses accounts that are away, and lets check_home() know the others until the end of the transaction.
--
-- It must be volatile: its statement then takes its snapshot after its lock on account_home, which the transaction keeps. So a
-- transaction has the lock when the freeze commits, and the freeze waits for its end, or it sees the freeze.
create function check_homes(accounts bigint[]) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
    declare
      away bigint;
      known text;
    begin
      -- At a higher level, the snapshot can be older than the lock.
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'An account is changed by a transaction that is read committed.' using errcode = 'insufficient_privilege';
      end if;
      lock table only {schema}.account_home in access share mode;
      if pg_relation_size('{schema}.account_home') = 0 then
        perform set_config('deedwire.homes', '*', true);
        return true;
      end if;
      select account_id into away from {schema}.account_away where account_id = any (accounts) and {schema}.session_sees_account(account_id) limit 1;
      if found then
        raise exception using
          errcode = 'ZH001',
          message = format('The account %s is frozen, or at home in another cell.', away);
      end if;
      known := current_setting('deedwire.homes', true);
      -- A transaction of many accounts forgets the first ones, so that its last row costs as little.
      perform set_config('deedwire.homes', concat(case when length(known) < 1000 then known end, ',', array_to_string(accounts, ','), ','), true);
      return true;
    end
    $$;

-- The trigger of every table that a change of an account writes. Its argument is the column that leads to the account. For a child of a
-- table of an application, it is empty, and the second argument is the name that own_table() has registered.
create function check_home() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      changed constant record := case when tg_op = 'DELETE' then old else new end;
      account bigint;
      -- That a row is taken from.
      former bigint;
      own_column text;
      account_query text;
    begin
      case tg_argv[0]
        when 'id' then account := changed.id;
        when 'account_id' then
          account := changed.account_id;
          if tg_op = 'UPDATE' and old.account_id <> account then
            perform {schema}.check_homes(array[old.account_id]);
          end if;
        when 'api_client_id' then select account_id into account from {schema}.api_client where id = changed.api_client_id;
        when 'subscription_id' then select account_id into account from {schema}.webhook_subscription where id = changed.subscription_id;
        else
          -- A parent of another interface looks like none.
          select o.column_name, format(
            'select p.id from (select %s as id from {schema}.%I p where p.id = $1) p where {schema}.session_sees_account(p.id)',
            {schema}.account_of_own(o.parent, 'p'), o.parent)
          into own_column, account_query
          from {schema}.own_table o
          where o.relation = tg_argv[1] and to_regclass(format('%I.%I', {schema_text}, o.parent)) is not null;
          if account_query is null then
            raise exception 'The table % or that of its parent was renamed or dropped. Call own_table() for both in a migration.', tg_table_name;
          end if;
          execute account_query into account using (to_jsonb(changed) ->> own_column)::bigint;
          if tg_op = 'UPDATE' and to_jsonb(old) -> own_column <> to_jsonb(new) -> own_column then
            execute account_query into former using (to_jsonb(old) ->> own_column)::bigint;
            perform {schema}.check_homes(array[former]);
          end if;
      end case;
      if account is null then
        -- It is deleted with its parent, or one statement inserts both, as a foreign key of ours ensures. The parent is checked.
        if tg_op = 'DELETE' or tg_argv[0] = any ('{api_client_id,subscription_id}') then
          return changed;
        end if;
        raise exception using
          errcode = 'foreign_key_violation',
          message = format('A row of the table %s leads to no account that this login may change.', tg_table_name);
      end if;
      if strpos(current_setting('deedwire.homes', true), concat(',', account, ',')) > 0 then
        return changed;
      end if;
      if tg_op = 'DELETE' and current_setting('deedwire.pruning', true) = 'on'
        and exists (select from {schema}.account_away a where a.account_id = account and not a.is_frozen) then
        return changed;
      end if;
      perform {schema}.check_homes(array[account]);
      return changed;
    end
    $$;

-- Lets the workers read the subscriptions of accounts that came home, as after a change: they have closed their lanes.
create function offer_home() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      select s.account_id, s.interface, s.id
      from home h
      join {schema}.webhook_subscription s on s.account_id = h.account_id
      where not exists (select from {schema}.account_away a where a.account_id = h.account_id);
      return null;
    end
    $$;

-- Lets the workers look for accounts that are frozen.
create function notify_homes() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    begin
      notify deedwire_wake, 'homes';
      return null;
    end
    $$;

create function refuse_account_elsewhere() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      home smallint := (select cell from {schema}.organization_home where organization_id = new.organization_id);
    begin
      if home is not null then
        raise exception 'The organization % belongs to the cell %. Create its account there, once it does not move.',
          new.organization_id, home using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end
    $$;

-- Until a split has ended, it can be undone.
create function refuse_open_split() returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    begin
      if exists (select from {schema}.cell_split where activated_at is null and aborted_at is null) then
        raise exception 'A split is open. Finish it, or run `cell split abort`.' using errcode = 'object_not_in_prerequisite_state';
      end if;
    end
    $$;

-- Gives the promoted side of the open split its own identity, while no app is connected: the number and the seed, which are
-- literals of new_record_id(), and the id of the installation.
create function take_cell_number() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      split {schema}.cell_split;
      own {schema}.installation;
      connected text;
      seed constant bigint := ('x' || right(gen_random_uuid()::text, 8) || left(gen_random_uuid()::text, 8))::bit(64)::bigint;
    begin
      select * into own from {schema}.installation for update;
      select * into split from {schema}.cell_split where activated_at is null and aborted_at is null and freeze_lsn is not null;
      if split.from_cell is distinct from own.cell then
        raise exception 'This database is not the new side of a split.';
      end if;
      select string_agg(format('%s (login %s, process %s)', application_name, usename, pid), ', ' order by pid) into connected
      from pg_stat_activity
      where datname = current_database() and application_name like 'deedwire-%' and pid <> pg_backend_pid();
      if connected is not null then
        raise exception 'Apps are connected to the new side: %. Stop them, and try again.', connected;
      end if;
      update {schema}.installation set cell = split.to_cell, id_seed = seed, installation_id = gen_random_uuid();
      execute replace(
        replace(pg_get_functiondef('{schema}.new_record_id()'::regprocedure), quote_literal(own.id_seed), quote_literal(seed)),
        format('(ms << 22) | %s |', own.cell::bigint << 12), format('(ms << 22) | %s |', split.to_cell::bigint << 12)
      );
      if ({schema}.new_record_id() >> 12) & 1023 <> split.to_cell then
        raise exception 'new_record_id() is not that of the migrations.';
      end if;
    end
    $$;

create trigger check_home before update of name, webhook_listeners_forbidden_at on account for each row when
  (current_setting('deedwire.homes', true) is distinct from '*') execute function check_home('id');
create trigger refuse_account_elsewhere before insert on account for each row execute function refuse_account_elsewhere();
create trigger check_home before insert or update on api_client for each row when (current_setting('deedwire.homes', true) is distinct
  from '*') execute function check_home('account_id');
create trigger check_home before insert or update of expires_at, revoked_at on api_key for each row when
  (current_setting('deedwire.homes', true) is distinct from '*') execute function check_home('api_client_id');
create trigger check_home before insert or update on idempotency_key for each row when (current_setting('deedwire.homes', true) is
  distinct from '*') execute function check_home('account_id');
create trigger notify_homes after insert or delete or update on account_home for each statement execute function notify_homes();
create trigger offer_home after delete on account_home referencing old table as home for each statement execute function offer_home();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- The audit log
-- -----------------------------------------------------------------------------------------------------------------------------------------

create sequence audit_entry_number;

create table audit_entry (
  -- The order of entries of the same time. It has gaps.
  number bigint not null default nextval('audit_entry_number'),
  at timestamptz(3) not null default now(),
  -- The login of the database session. Apps have no right to set this column or the two above.
  login text not null default session_user,
  actor_type text check (actor_type in ('OPERATOR', 'CLIENT')),
  -- The name of the operator, or the id of the API client.
  actor text,
  -- The machine of the operator, or the address of the client. Null if it is not known.
  address text,
  request_id text,
  -- For example `credential.issue`.
  action text not null,
  -- The identifier of the changed record: a global identifier, a client id or a key id.
  subject text not null,
  -- The account that the record belongs to. Null for an organization.
  account_id bigint,
  interface interface_name,
  -- What else matters about the change. Contains no secrets.
  details jsonb not null default '{}'::jsonb,
  transaction_id xid8,
  constraint audit_entry_check check ((account_id is null) = (interface is null)),
  primary key (at, number),
  foreign key (account_id, interface) references account (id, interface)
) partition by range (at);

-- Receives the entries of a month without a partition, so that no change fails because a partition is missing.
create table audit_entry_default partition of audit_entry default;

alter table audit_entry add constraint audit_entry_is_readable check (
  action ~ '^[a-z_]+\.[a-z_-]+$' and octet_length(action) <= 100 and octet_length(subject) <= 1000
  and octet_length(coalesce(actor, '')) <= 1000 and octet_length(coalesce(address, '')) <= 1000
  and octet_length(coalesce(request_id, '')) <= 1000
  and jsonb_typeof(details) = 'object' and octet_length(details::text) <= 40000
) not valid;

-- Creates the partitions of this month and the next two, and deletes entries that are older than `keep_days`, by dropping
-- their partitions. The minimum keeps a compromised login from deleting its traces.
--
-- Both changes lock the table for a moment. The lock timeout keeps a long transaction from blocking all writers behind
-- them; the next call tries again.
create function maintain_audit_log(keep_days int) returns table (created text, dropped text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set lock_timeout = '1s'
as $$
    declare
      keep_days_min constant int := 90;
      month timestamptz;
      partition_name text;
    begin
      if keep_days is null or keep_days < keep_days_min then
        raise exception 'The audit log keeps entries for at least % days, not %.', keep_days_min, keep_days;
      end if;
      -- One session at a time. No app has a right to this table, so no app can take this lock.
      begin
        lock table {schema}.audit_entry_default in share update exclusive mode nowait;
      exception when lock_not_available then
        return;
      end;

      for month in
        select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '2 months', interval '1 month')
      loop
        partition_name := 'audit_entry_' || to_char(month, 'YYYY_MM');
        continue when to_regclass(format('%I.%I', {schema_text}, partition_name)) is not null;
        -- PostgreSQL rejects a partition whose rows are in the default partition. That month stays there.
        continue when exists (
          select from {schema}.audit_entry_default where at >= month and at < month + interval '1 month'
        );
        execute format(
          'create table %1$I.%2$I partition of %1$I.audit_entry for values from (%3$L) to (%4$L)',
          {schema_text}, partition_name, month, month + interval '1 month'
        );
        created := partition_name;
        dropped := null;
        return next;
      end loop;

      for partition_name in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.audit_entry', {schema_text})::regclass
          and c.relname ~ '^audit_entry_\d{4}_\d{2}$'
          and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' < now() - make_interval(days => keep_days)
        order by c.relname
      loop
        execute format('drop table %I.%I', {schema_text}, partition_name);
        created := null;
        dropped := partition_name;
        return next;
      end loop;

      delete from {schema}.audit_entry_default where at < now() - make_interval(days => keep_days);
    end
    $$;

create function merge_audit_claim() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      if {schema}.session_is_operator() then
        update {schema}.audit_entry
        set actor_type = 'OPERATOR', actor = left(new.actor, 250), address = left(new.address, 250),
          request_id = left(new.request_id, 250), details = details || jsonb_build_object('command', left(new.action, 100))
        where at = now()::timestamptz(3) and transaction_id = pg_current_xact_id() and actor is null and new.actor is not null;
      end if;
      return null;
    end
    $$;

create function audit_change() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
      declare
        old_row constant jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
        new_row constant jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
        this_row constant jsonb := case when tg_op = 'DELETE' then old_row else new_row end;
        claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
        old_values jsonb;
        new_values jsonb;
        noun text;
        verb text;
        subject text;
        account_id bigint;
        details jsonb := '{}';
      begin
        select jsonb_object_agg(key, case when key = 'key_hash' then 'hidden' else left(o.value, 250) end),
          jsonb_object_agg(key, case when key = 'key_hash' then 'hidden' else left(n.value, 250) end)
        into old_values, new_values
        from jsonb_each_text(old_row) o
        full join jsonb_each_text(new_row) n using (key)
        where o.value is distinct from n.value and key not in ('last_used_at', 'last_used_from', 'last_used_version', 'expiry_reported_at', 'replaced_by');
        if old_values is null then
          return null;
        end if;

        case tg_table_name
          when 'account' then
            noun := replace(this_row ->> 'interface', '-', '_');
            -- The namespace of global identifiers is known to the apps only.
            subject := (select i.account_type from {schema}.interface i where i.name::text = this_row ->> 'interface') || '/' || (this_row ->> 'id');
            -- An entry cannot refer to an account that is gone.
            account_id := new_row ->> 'id';
          when 'api_client' then
            noun := 'client';
            subject := this_row ->> 'client_id';
            account_id := this_row ->> 'account_id';
          when 'api_key' then
            noun := 'credential';
            subject := this_row ->> 'key_id';
            select c.account_id, jsonb_build_object('clientId', left(c.client_id, 250))
            into account_id, details
            from {schema}.api_client c
            where c.id = (this_row ->> 'api_client_id')::bigint;
        end case;
        verb := case
          when tg_op = 'INSERT' and noun = 'credential' then 'issue'
          when tg_op = 'INSERT' then 'create'
          when tg_op = 'DELETE' then 'delete'
          when new_values ? 'revoked_at' then 'revoke'
          when new_values - 'expires_at' = '{}' then 'expire'
          when new_values - 'schema_version' = '{}' then 'pin'
          when new_values - array['cost_maximum', 'cost_restore_rate'] = '{}' then 'set-limit'
          else 'update'
        end;

        if (tg_table_name <> 'api_key' or claim ->> 'client' is null)
          and (coalesce(claim ->> 'actor', '') = '' or not {schema}.session_is_operator()) then
          claim := null;
        end if;
        if claim ->> 'client' is not null then
          details := details || jsonb_strip_nulls(jsonb_build_object('keyId', claim -> 'keyId', 'portal', claim -> 'portal'));
        end if;
        if claim ->> 'command' is not null then
          details := details || jsonb_build_object('command', left(claim ->> 'command', 100));
        end if;
        if tg_op <> 'INSERT' then
          details := details || jsonb_build_object('old', old_values);
        end if;
        if tg_op <> 'DELETE' then
          details := details || jsonb_build_object('new', new_values);
        end if;
        insert into {schema}.audit_entry
          (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
        values
          (pg_current_xact_id(), case when claim ->> 'client' is not null then 'CLIENT' when claim is not null then 'OPERATOR' end,
            left(coalesce(claim ->> 'client', claim ->> 'actor'), 250),
            left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), noun || '.' || verb, left(subject, 250), account_id,
            case when account_id is not null then (this_row ->> 'interface')::{schema}.interface_name end, details);
        return null;
      end
      $$;

-- Lets merge_audit_claim() have the entries of actions that functions of the owner record, among them those of accounts of every
-- interface. Called when there is a further interface.
create function guard_audit_entries() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    begin
      execute format('create or replace trigger merge_audit_claim before insert on {schema}.audit_entry
        for each row when (new.transaction_id is null and new.action ~ %L) execute function {schema}.merge_audit_claim()',
        (select format('^((%s|client|contact_email|credential|portal_link|portal_session|person)\.|webhook_listener\.expire$)',
          string_agg(replace(i.name::text, '-', '_'), '|' order by i.name)) from {schema}.interface i));
    end
    $$;

create trigger audit_insert_or_delete after insert or delete on account for each row execute function audit_change();
create trigger audit_update after update on account for each row when (old.* is distinct from new.*) execute function audit_change();
create trigger audit_insert_or_delete after insert or delete on api_client for each row execute function audit_change();
create trigger audit_update after update on api_client for each row when (old.* is distinct from new.*) execute function audit_change();
create trigger audit_insert_or_delete after insert or delete on api_key for each row execute function audit_change();
create trigger audit_update after update of key_id, api_client_id, interface, key_hash, created_at, expires_at, revoked_at, abilities,
  name, addresses, created_by_key, created_by_actor on api_key for each row when (old.* is distinct from new.*) execute function
  audit_change();
select guard_audit_entries();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Sessions of the portal, and the keys of clients
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- A link, which becomes the session of the browser that exchanges its token.
create table portal_session (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  -- The client of the portal for the account. It has no keys, and its own points. The trigger sets it.
  api_client_id bigint not null,
  -- The key that created the link: the session ends with it. Null: an operator has created the link.
  key_id text constraint portal_session_key_id_bounds check (octet_length(key_id) <= 100),
  abilities text[] not null
    constraint portal_session_abilities_bounds check (
      abilities <@ array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'MANAGE_KEYS'] and cardinality(abilities) between 1 and 5
    ),
  actor text not null constraint portal_session_actor_bounds check (char_length(actor) <= 100),
  return_url text constraint portal_session_return_url_bounds check (char_length(return_url) <= 2048),
  subscription_id bigint constraint portal_session_subscription_id_bounds check (subscription_id > 0),
  link_hash bytea not null constraint portal_session_link_hash_bounds check (octet_length(link_hash) = 32) unique,
  token_hash bytea constraint portal_session_token_hash_bounds check (octet_length(token_hash) = 32) unique,
  expires_at timestamptz(3) not null constraint portal_session_expires_at_bounds check (expires_at between '1970-01-01Z' and '9999-12-31Z'),
  started_at timestamptz(3) constraint portal_session_started_at_bounds check (started_at between '1970-01-01Z' and '9999-12-31Z'),
  last_used_at timestamptz(3) constraint portal_session_last_used_at_bounds check (last_used_at between '1970-01-01Z' and '9999-12-31Z'),
  -- Of an invite: the client whose keys the session manages, and what these can have at most. Null: both are those of the key of the link.
  invited_client_id bigint,
  invited_abilities text[]
    constraint portal_session_invited_abilities_bounds check (
      array_ndims(invited_abilities) = 1 and invited_abilities @> array['READ']
      and cardinality(invited_abilities) = ('READ' = any (invited_abilities))::int + ('READ_PAYLOAD' = any (invited_abilities))::int
        + ('OPERATE' = any (invited_abilities))::int + ('CONFIGURE' = any (invited_abilities))::int
        + ('WRITE' = any (invited_abilities))::int + ('MANAGE_KEYS' = any (invited_abilities))::int
      and (invited_abilities @> array['READ_PAYLOAD'] or not invited_abilities @> array['CONFIGURE'])
    ),
  constraint portal_session_check check ((token_hash is null) = (started_at is null) and (token_hash is null) = (last_used_at is null)),
  foreign key (key_id) references api_key (key_id),
  foreign key (account_id, interface) references account (id, interface),
  foreign key (api_client_id, interface) references api_client (id, interface),
  constraint portal_session_invited_client_id_fkey foreign key (invited_client_id, interface) references api_client (id, interface),
  constraint portal_session_invite_check check (
    case
      when invited_client_id is null then
        invited_abilities is null and (key_id is not null or not abilities @> array['MANAGE_KEYS'])
      else
        invited_abilities is not null and key_id is null
        and abilities @> array['READ', 'MANAGE_KEYS'] and abilities <@ array['READ', 'MANAGE_KEYS']
    end
  )
);
-- Counts the links of an account that can be used.
create index portal_session_unused_by_account on portal_session (account_id, expires_at) where (token_hash is null);
-- Serves delete_expired_portal_sessions().
create index portal_session_by_expiry on portal_session (expires_at);
-- Serves the list of the sessions and invites of an account, and the end of sessions beyond 20.
create index portal_session_listed_by_account on portal_session (account_id, id) where ((token_hash is not null) or (invited_client_id
  is not null));

-- Creates the client of the account with its first link, because an interface cannot create clients. Compares the account of
-- the key. Whatever a login writes, a link lives 10 minutes and a session 8 hours, which begin once, and an end is final.
create function check_portal_session() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      portal_client constant text := 'portal_' || new.interface || '_' || new.account_id;
    begin
      if tg_op = 'UPDATE' then
        if old.expires_at <= now() or old.last_used_at <= now() - interval '30 minutes' and (
            new.expires_at >= old.expires_at
            or (new.token_hash, new.started_at, new.last_used_at) is distinct from (old.token_hash, old.started_at, old.last_used_at)
          ) then
          raise exception 'The session % has ended.', old.id using errcode = 'insufficient_privilege';
        end if;
        if new.last_used_at > now() then
          new.last_used_at := now();
        end if;
        if old.token_hash is null and new.token_hash is not null then
          new.started_at := now();
          new.expires_at := least(new.expires_at, now() + interval '8 hours');
          -- Otherwise sessions that start at the same time would not count each other. Of the logins, only the operator can lock
          -- this row for longer.
          perform from {schema}.api_client where id = new.api_client_id for no key update;
        elsif new.token_hash is distinct from old.token_hash or new.started_at is distinct from old.started_at
          or new.expires_at > old.expires_at
          or new.expires_at < old.expires_at and new.expires_at > now() + interval '1 millisecond' then
          raise exception 'The session % can only end, and now.', old.id using errcode = 'insufficient_privilege';
        elsif new.expires_at < old.expires_at then
          -- Rounded to milliseconds, now() could be in the future. Another transaction can have ended it since this one began.
          new.expires_at := case
            when old.expires_at <= clock_timestamp() then old.expires_at
            else least(new.expires_at, date_trunc('milliseconds', now()))
          end;
        end if;
        return new;
      end if;
      new.expires_at := least(new.expires_at, now() + case when new.invited_client_id is null then interval '10 minutes' else interval '7 days' end);
      if new.key_id is not null and not exists (
        select
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = new.key_id and c.account_id = new.account_id and c.interface = new.interface
      ) then
        raise exception 'The account % has no key %.', new.account_id, new.key_id using errcode = 'insufficient_privilege';
      end if;
      if exists (
        select from {schema}.api_key k where k.key_id = new.key_id and not k.abilities @> new.abilities
      ) then
        raise exception 'The link has abilities that its key % does not have.', new.key_id using errcode = 'insufficient_privilege';
      end if;
      if new.invited_client_id is not null and (not {schema}.session_is_operator() or not exists (
        select
        from {schema}.api_client c
        where c.id = new.invited_client_id and c.account_id = new.account_id and c.interface = new.interface
          and c.client_id <> portal_client
      )) then
        raise exception 'The account % cannot invite to the keys of the client %.', new.account_id, new.invited_client_id
          using errcode = 'insufficient_privilege';
      end if;
      -- Requests of the portal have the version of its pages.
      insert into {schema}.api_client (account_id, interface, client_id, schema_version)
      select new.account_id, new.interface, portal_client, 'portal'
      where not exists (select from {schema}.api_client where client_id = portal_client)
      on conflict (client_id) do nothing;
      select id into new.api_client_id from {schema}.api_client where client_id = portal_client;
      return new;
    end
    $$;

-- Writes the entry of a link, of the start and of the end of a session. The transaction can set `deedwire.audit_claim` as for
-- audit_change(), or to a JSON object with `client`, `accountId`, `address`, `requestId` and `portal`: the claims of an
-- account are not in the entries of another one.
create function audit_portal_session() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      operator constant text := case when {schema}.session_is_operator() then claim ->> 'actor' end;
    begin
      if operator is null and claim ->> 'accountId' is distinct from new.account_id::text then
        claim := null;
      end if;
      insert into {schema}.audit_entry
        (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
      values
        (pg_current_xact_id(),
          case when operator is not null then 'OPERATOR' when claim ->> 'client' is not null then 'CLIENT' end,
          left(coalesce(operator, claim ->> 'client'), 250), left(claim ->> 'address', 250), left(claim ->> 'requestId', 250),
          case
            when tg_op = 'INSERT' then 'portal_link.create'
            when old.token_hash is distinct from new.token_hash then 'portal_session.start'
            else 'portal_session.end'
          end,
          'PortalSession/' || new.id, new.account_id, new.interface,
          jsonb_strip_nulls(jsonb_build_object(
            'actor', new.actor, 'abilities', case when tg_op = 'INSERT' then new.abilities end,
            'keyId', new.key_id, 'clientId', (select c.client_id from {schema}.api_client c where c.id = new.invited_client_id),
            'keyAbilities', case when tg_op = 'INSERT' then new.invited_abilities end, 'command', left(claim ->> 'command', 100), 'portal', claim -> 'portal'
          )));
      return null;
    end
    $$;

-- Deletes up to `batch` links and sessions that expired more than a day ago, and returns their number.
create function delete_expired_portal_sessions(batch int) returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      with expired as (
        select id
        from {schema}.portal_session
        where expires_at < now() - interval '1 day' and not exists (select from {schema}.account_away a where a.account_id = portal_session.account_id and a.is_frozen)
        order by expires_at
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.portal_session s
        using expired e
        where s.id = e.id
        returning 1
      )
      select count(*) from deleted
    $$;

-- Refuses a key without abilities, as the commands of the last release issue it, in place of a limited one: it would have more
-- abilities than that.
create function check_api_key() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      usual constant text[] := array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE'];
    begin
      if new.addresses is null and exists (
        select
        from {schema}.api_key k
        where k.api_client_id = new.api_client_id and k.addresses is not null and k.xmin = pg_current_xact_id()::xid
      ) then
        raise exception 'The key has addresses, which this release does not know. Rotate it with the release that issued it.'
          using errcode = 'insufficient_privilege';
      end if;
      if new.abilities is distinct from array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ'] then
        return new;
      end if;
      if exists (
        select
        from {schema}.api_key k
        where k.api_client_id = new.api_client_id and not (k.abilities @> usual and k.abilities <@ usual)
          -- A rotation limits the life of the old key first.
          and k.xmin = pg_current_xact_id()::xid
      ) then
        raise exception 'The key has abilities, which this release does not know. Rotate it with the release that issued it.'
          using errcode = 'insufficient_privilege';
      end if;
      new.abilities := usual;
      return new;
    end
    $$;

create function keep_revocation() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
      begin
        raise exception using
          errcode = 'integrity_constraint_violation',
          message = format('The key %s has been revoked since %s. A revocation can neither be undone nor moved. Issue another key.',
            old.key_id, old.revoked_at);
      end
      $$;

-- Who changes the keys of a client, and what the keys that result can have at most. For functions of the owner. Names the actor in the
-- entries of the audit log that follow in this transaction, where the transaction itself can only claim an address and a request.
-- No row: the key or the session is not accepted, or lacks MANAGE_KEYS.
create function acting_on_keys(acting_key text, acting_session bigint) returns table (api_client_id bigint, key_id text, portal_actor
  text, abilities text[], addresses cidr[], expires_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      claim constant jsonb := coalesce(nullif(current_setting('deedwire.audit_claim', true), '')::jsonb, '{}');
      session {schema}.portal_session;
      acting {schema}.api_key;
    begin
      if acting_session is not null then
        select * into session
        from {schema}.portal_session s
        where s.id = acting_session and s.token_hash is not null and s.expires_at > clock_timestamp()
          and s.last_used_at > clock_timestamp() - interval '30 minutes' and s.abilities @> array['MANAGE_KEYS'];
      end if;
      select * into acting
      from {schema}.api_key k
      where k.key_id = case when acting_session is null then acting_key else session.key_id end
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
        and k.abilities @> array['MANAGE_KEYS'] and pg_has_role(session_user, {schema}.role_of_app(k.interface::text || '-api'), 'member');
      if not found and not (
        session.invited_client_id is not null and pg_has_role(session_user, {schema}.role_of_app(session.interface::text || '-api'), 'member')
      ) then
        return;
      end if;
      perform set_config('deedwire.audit_claim', jsonb_strip_nulls(jsonb_build_object(
        'address', claim -> 'address', 'requestId', claim -> 'requestId', 'client', c.client_id, 'keyId', acting.key_id,
        'portal', case when acting_session is not null then jsonb_build_object(
          -- The database knows no namespace.
          'sessionId', coalesce(substring(claim -> 'portal' ->> 'sessionId'
            from '^gid://[a-z][a-z0-9-]{0,99}/PortalSession/' || session.id || '$'), 'PortalSession/' || session.id), 'actor', session.actor, 'keyId', session.key_id) end
      ))::text, true)
      from {schema}.api_client c
      where c.id = coalesce(session.api_client_id, acting.api_client_id);
      return query select coalesce(session.invited_client_id, acting.api_client_id), acting.key_id, session.actor,
        case when acting_session is null then acting.abilities
          when session.invited_client_id is not null then session.invited_abilities
          else array(select unnest(acting.abilities) intersect select unnest(session.abilities)) end,
        acting.addresses, acting.expires_at;
    end
    $$;

-- Creates a key, or replaces one, as an operator or within what the acting key or session can give. A key that an owner replaces has
-- the limits of the old one. Returns what is wrong, and then changes nothing; null if the key was created.
create function issue_api_key(acting_key text, acting_session bigint, of_client bigint, replaced_key text, overlap_seconds int,
  new_key_id text, new_key_hash bytea, new_name text, new_abilities text[], new_addresses cidr[], new_expires_at timestamptz) returns
  text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      keys_max constant int := 5;
      daily_max constant int := 20;
      is_operator constant boolean := acting_key is null and acting_session is null and {schema}.session_is_operator();
      actor record;
      -- Of `actor`. Null: an operator.
      creator text;
      creator_of_session text;
      old {schema}.api_key;
      client bigint := of_client;
      created_by jsonb;
    begin
      if (new_key_id ~ '^[0-9A-Za-z]{12}$') is not true or new_key_hash is null or new_abilities is null
        or array_position(new_abilities, null) is not null or array_position(new_addresses, null) is not null
        or (replaced_key is null) <> (overlap_seconds is null) or overlap_seconds not between 0 and 2592000
        or not is_operator and replaced_key is null and new_name is null then
        raise exception 'The arguments of a key are invalid.' using errcode = 'invalid_parameter_value';
      end if;
      if not is_operator then
        select a.api_client_id into client from {schema}.acting_on_keys(acting_key, acting_session) a;
        if not found then
          return 'REFUSED';
        end if;
      end if;
      -- One after the other, so that the counts stay valid. What is read before can have changed meanwhile.
      perform from {schema}.api_client c where c.id = client for no key update;
      if not is_operator then
        if not (select key_self_service from {schema}.installation where only_row) then
          return 'KEY_SELF_SERVICE_OFF';
        end if;
        select * into actor from {schema}.acting_on_keys(acting_key, acting_session);
        if not found then
          return 'REFUSED';
        end if;
        creator := actor.key_id;
        creator_of_session := actor.portal_actor;
      end if;
      if replaced_key is not null then
        select * into old from {schema}.api_key k where k.key_id = replaced_key and k.api_client_id = client for no key update;
        if not found then
          return 'NOT_FOUND';
        end if;
        if old.revoked_at is not null or old.expires_at <= clock_timestamp() then
          return 'KEY_ENDED';
        end if;
        if not is_operator then
          new_name := old.name;
          new_abilities := old.abilities;
          new_addresses := old.addresses;
          new_expires_at := old.expires_at;
        end if;
      end if;
      if new_expires_at <= clock_timestamp() then
        return 'EXPIRY_INVALID';
      end if;
      if not is_operator then
        if not new_abilities <@ actor.abilities then
          return 'ABILITIES_INVALID';
        end if;
        if actor.addresses is not null and (new_addresses is null or exists (
          select from unnest(new_addresses) as a (network) where not network <<= any (actor.addresses)
        )) then
          return 'ADDRESSES_INVALID';
        end if;
        if new_expires_at > actor.expires_at or new_expires_at is null and actor.expires_at is not null then
          return 'EXPIRY_INVALID';
        end if;
        if daily_max <= (
          select count(*)
          from {schema}.api_key k
          where k.api_client_id = client and k.created_at > now() - interval '1 day' and (k.created_by_key is not null or k.created_by_actor is not null)
        ) then
          return 'DAILY_LIMIT_REACHED';
        end if;
      end if;
      if keys_max <= (
        select count(*)
        from {schema}.api_key k
        where k.api_client_id = client and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
          and (k.key_id is distinct from replaced_key or overlap_seconds > 0)
      ) then
        return 'LIMIT_REACHED';
      end if;
      if replaced_key is not null then
        -- The column rounds to milliseconds: without truncation, 0 seconds could be in the future. The owner knows of this end.
        update {schema}.api_key k
        set expires_at = least(k.expires_at, date_trunc('milliseconds', now()) + make_interval(secs => overlap_seconds)),
          replaced_by = new_key_id, expiry_reported_at = now()
        where k.key_id = replaced_key
        returning k.expires_at into old.expires_at;
      end if;
      insert into {schema}.api_key
        (key_id, api_client_id, interface, key_hash, name, abilities, addresses, expires_at, created_by_key, created_by_actor)
      select new_key_id, c.id, c.interface, new_key_hash, new_name, new_abilities, new_addresses, new_expires_at, creator,
        creator_of_session
      from {schema}.api_client c
      where c.id = client;
      if not is_operator then
        created_by := jsonb_build_object('apiKeyId', creator, 'portalActor', creator_of_session);
      end if;
      perform {schema}.append_key_event(new_key_id, case when replaced_key is null then 'api_key.created' else 'api_key.rotated' end,
        jsonb_build_object('createdBy', created_by) || case when replaced_key is null then '{}' else jsonb_build_object('replacedApiKey',
          jsonb_build_object('id', replaced_key, 'expiresAt', {schema}.webhook_alert_time(old.expires_at))) end);
      return null;
    end
    $$;

-- Revokes a key. Returns why it was not; null if it was. Its owner does not revoke a key that has expired.
create function revoke_api_key(acting_key text, acting_session bigint, revoked_key text) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      is_operator constant boolean := acting_key is null and acting_session is null and {schema}.session_is_operator();
      client bigint;
      old {schema}.api_key;
    begin
      if is_operator then
        select k.api_client_id into client from {schema}.api_key k where k.key_id = revoked_key;
      else
        select a.api_client_id into client from {schema}.acting_on_keys(acting_key, acting_session) a;
        if not found then
          return 'REFUSED';
        end if;
      end if;
      -- As in issue_api_key().
      perform from {schema}.api_client c where c.id = client for no key update;
      if not is_operator then
        if not (select key_self_service from {schema}.installation where only_row) then
          return 'KEY_SELF_SERVICE_OFF';
        end if;
        perform from {schema}.acting_on_keys(acting_key, acting_session);
        if not found then
          return 'REFUSED';
        end if;
      end if;
      select * into old from {schema}.api_key k where k.key_id = revoked_key and k.api_client_id = client for no key update;
      if not found then
        return 'NOT_FOUND';
      end if;
      if old.revoked_at is not null or not is_operator and old.expires_at <= clock_timestamp() then
        return 'KEY_ENDED';
      end if;
      -- A key that is replaced ends soon.
      if not is_operator and old.abilities @> array['MANAGE_KEYS'] and old.replaced_by is null and not exists (
        select
        from {schema}.api_key k
        where k.api_client_id = client and k.key_id <> revoked_key and k.abilities @> array['MANAGE_KEYS']
          and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) and k.replaced_by is null
      ) then
        return 'LAST_KEY';
      end if;
      update {schema}.api_key k set revoked_at = now() where k.key_id = revoked_key returning k.revoked_at into old.revoked_at;
      perform {schema}.append_key_event(revoked_key, 'api_key.revoked',
        jsonb_build_object('revokedAt', {schema}.webhook_alert_time(old.revoked_at)));
      return null;
    end
    $$;

-- Appends an event about a key to the outbox of its account, and returns the shard whose worker sends it. The data has the form of
-- `EventSnapshots`.
create function append_key_event(of_key text, type text, data jsonb) returns smallint
language sql
set search_path = pg_catalog, pg_temp
as $$
      select {schema}.add_contact_mails(
          c.account_id, 'KEY_EXPIRING', null, k.key_id, jsonb_build_object('expiresAt', {schema}.webhook_alert_time(k.expires_at)))
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = of_key and type = 'api_key.expiring';
        with event as (
        insert into {schema}.webhook_event (account_id, interface, event_type, snapshot, request_id)
        select c.account_id, c.interface, type, (data || jsonb_build_object('apiKey', jsonb_build_object(
          'id', k.key_id, 'name', k.name, 'abilities', k.abilities, 'expiresAt', {schema}.webhook_alert_time(k.expires_at)
        )))::json, left(nullif(current_setting('deedwire.audit_claim', true), '')::jsonb ->> 'requestId', 250)
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = of_key
        returning account_id, interface, id
      )
      insert into {schema}.webhook_event_queue (account_id, interface, event_id)
      select account_id, interface, id
      from event
      returning shard
    $$;

-- Appends `api_key.expiring` 30 days, 7 days and a day before the end of a key, of those after its creation, for up to `batch` keys.
-- Returns the shards whose workers have events to send, once for each event.
create function report_expiring_api_keys(batch int) returns setof smallint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      with due as (
        select k.key_id
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where least(k.revoked_at, k.expires_at) > now() and least(k.revoked_at, k.expires_at) <= now() + interval '30 days'
          and k.revoked_at is null
          and exists (
            select
            from unnest(array[interval '30 days', interval '7 days', interval '1 day']) as notice
            where k.expires_at - notice <= now() and k.expires_at - notice > k.created_at
              and (k.expiry_reported_at is null or k.expiry_reported_at < k.expires_at - notice)
          )
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by least(k.revoked_at, k.expires_at)
        limit batch
        for update of k skip locked
      ), reported as (
        update {schema}.api_key k
        set expiry_reported_at = now()
        from due
        where k.key_id = due.key_id
        returning k.key_id
      )
      select {schema}.append_key_event(key_id, 'api_key.expiring', '{}')
      from reported
    $$;

-- Deletes up to `batch` keys that ended 90 days ago, and the addresses of the last uses of up to `batch` keys that have ended or were
-- not used for 90 days. Returns the larger number. Deletes no key of an account that is at home elsewhere or about to leave.
create function forget_ended_api_keys(batch int) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      kept_for constant interval := '90 days';
      deleted bigint;
      forgotten bigint;
    begin
      with ended as (
        select k.key_id
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where least(k.revoked_at, k.expires_at) < now() - kept_for
          and not exists (select from {schema}.portal_session s where s.key_id = k.key_id)
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by least(k.revoked_at, k.expires_at)
        limit batch
        for update of k skip locked
      )
      delete from {schema}.api_key k using ended e where k.key_id = e.key_id;
      get diagnostics deleted = row_count;
      with unused as (
        select key_id
        from {schema}.api_key
        where last_used_from is not null and (last_used_at < now() - kept_for or expires_at <= now())
        limit batch
        for update skip locked
      )
      update {schema}.api_key k set last_used_from = null from unused u where k.key_id = u.key_id;
      get diagnostics forgotten = row_count;
      return greatest(deleted, forgotten);
    end
    $$;

-- The address of the last use is kept while the key is accepted, at most.
create function forget_address_of_use() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    begin
      new.last_used_from := null;
      return new;
    end
    $$;

create trigger check_api_key before insert on api_key for each row execute function check_api_key();
create trigger forget_address_of_use before update on api_key for each row when (new.last_used_from is not null and (new.revoked_at is
  not null or new.expires_at <= now())) execute function forget_address_of_use();
create trigger keep_revocation before update of revoked_at on api_key for each row when (old.revoked_at is distinct from new.revoked_at
  and old.revoked_at is not null) execute function keep_revocation();
create trigger audit_insert after insert on portal_session for each row execute function audit_portal_session();
create trigger audit_update after update of token_hash, expires_at on portal_session for each row when (old.token_hash is distinct from
  new.token_hash or old.expires_at > new.expires_at) execute function audit_portal_session();
create trigger check_home before insert or update of token_hash, started_at, expires_at on portal_session for each row when
  (current_setting('deedwire.homes', true) is distinct from '*') execute function check_home('account_id');
create trigger check_portal_session before insert or update on portal_session for each row execute function check_portal_session();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Subscriptions to webhooks
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- The order of fan-out. Ids do not give it: they follow the clock, and within one millisecond they wrap around.
create sequence webhook_queue_position;

create table webhook_subscription (
  id bigint default new_record_id() primary key constraint webhook_subscription_id_bounds check (id > 0),
  account_id bigint not null,
  -- See shardOf() in packages/webhooks.
  shard smallint not null generated always as ((account_id & 63::bigint)::smallint) stored,
  interface interface_name not null,
  -- Empty once the subscription is deleted.
  callback_url text not null constraint webhook_subscription_callback_url_bounds check (octet_length(callback_url) <= 2048),
  -- Counts the callback URLs. What is remembered about a receiver belongs to one of them.
  url_number int not null default 1,
  -- AES-256-GCM with the subscription's id as associated data. Empty once the subscription is deleted.
  secret_ciphertext bytea not null constraint webhook_subscription_secret_ciphertext_bounds check (octet_length(secret_ciphertext) <= 155),
  paused_reason text check (paused_reason in ('OWNER', 'OPERATOR', 'GONE', 'FAILING', 'VERSION_RETIRED')),
  paused_at timestamptz(3) constraint webhook_subscription_paused_at_bounds check (paused_at between '1970-01-01Z' and '9999-12-31Z'),
  created_at timestamptz(3) not null default now()
    constraint webhook_subscription_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z'),
  -- No interface shows a deleted subscription or its deliveries.
  deleted_at timestamptz(3) constraint webhook_subscription_deleted_at_bounds check (deleted_at between '1970-01-01Z' and '9999-12-31Z'),
  -- The position of the queue when the subscription was created. It receives events with a higher position. Ids and times do
  -- not decide that: the clock can be set back.
  queue_position bigint not null,
  -- The secret that replaces secret_ciphertext when the rotation ends, encrypted as that one. Null outside of a rotation, as are
  -- both times.
  next_secret_ciphertext bytea
    constraint webhook_subscription_next_secret_ciphertext_bounds check (octet_length(next_secret_ciphertext) <= 155),
  rotation_started_at timestamptz(3)
    constraint webhook_subscription_rotation_started_at_bounds check (rotation_started_at between '1970-01-01Z' and '9999-12-31Z'),
  rotation_ends_at timestamptz(3)
    constraint webhook_subscription_rotation_ends_at_bounds check (rotation_ends_at between '1970-01-01Z' and '9999-12-31Z'),
  -- Since when the owner keeps the subscription paused, also while another reason is the one that is shown. Without meaning
  -- while the subscription is not paused.
  owner_paused_at timestamptz(3)
    constraint webhook_subscription_owner_paused_at_bounds check (owner_paused_at between '1970-01-01Z' and '9999-12-31Z'),
  callback_url_since int,
  kind text not null default 'PUSH' check (kind in ('PUSH', 'LISTENER')),
  -- Written at most once an hour. Null unless the row is a listener.
  last_read_at timestamptz(3)
    constraint webhook_subscription_last_read_at_bounds check (last_read_at between '1970-01-01Z' and '9999-12-31Z'),
  name text constraint webhook_subscription_name_bounds check (char_length(name) <= 100),
  -- The receiver worked again, or the owner resumed the subscription. At most once an hour.
  hastened_at timestamptz(3) constraint webhook_subscription_hastened_at_bounds check (hastened_at between '1970-01-01Z' and '9999-12-31Z'),
  -- The owner or an operator asked for everything that waits. At most once a minute.
  send_pending_at timestamptz(3)
    constraint webhook_subscription_send_pending_at_bounds check (send_pending_at between '1970-01-01Z' and '9999-12-31Z'),
  -- A constant default: no row is written.
  timeout_seconds smallint not null default 5
    constraint webhook_subscription_timeout_seconds_bounds check (timeout_seconds between 5 and 15),
  -- When it was last shortened. A request that is in flight, or starts within seconds, can still have the longer one.
  timeout_lowered_at timestamptz(3)
    constraint webhook_subscription_timeout_lowered_at_bounds check (timeout_lowered_at between '1970-01-01Z' and '9999-12-31Z'),
  -- As its owner wrote it. Null if there is no header.
  request_header_name text constraint webhook_subscription_request_header_name_bounds check (char_length(request_header_name) <= 100),
  -- The value, encrypted for this subscription, name and origin. Null if a new callback URL had another origin.
  request_header_ciphertext bytea
    constraint webhook_subscription_request_header_ciphertext_bounds check (octet_length(request_header_ciphertext) <= 4157),
  -- Scheme, host and port of the callback URL for which the value was set. If that of the present one differs, the value cannot be
  -- decrypted. Null as the ciphertext is.
  request_header_origin text constraint webhook_subscription_request_header_origin_bounds check (char_length(request_header_origin) <= 300),
  constraint webhook_subscription_check check ((paused_reason is null) = (paused_at is null)),
  unique (id, interface),
  foreign key (account_id, interface) references account (id, interface),
  constraint webhook_listener_is_never_sent check (
  case kind
      when 'LISTENER' then last_read_at is not null and paused_reason is not null and callback_url = '' and secret_ciphertext = '\x'::bytea and next_secret_ciphertext is null
      else last_read_at is null
  end),
  constraint webhook_subscription_request_header_is_whole check (
    (request_header_ciphertext is null) = (request_header_origin is null)
    and (request_header_ciphertext is null or request_header_name is not null)
  )
);
create index webhook_subscription_by_account on webhook_subscription (account_id, id) where (deleted_at is null);
create index webhook_subscription_by_shard on webhook_subscription (shard, id) where (deleted_at is null);
-- Serves sequence_states(). A row of the table is inserted rarely, and the column never changes.
create index webhook_subscription_by_queue_position on webhook_subscription (queue_position);
-- Serves webhook_end_rotations(). Few rows.
create index webhook_subscription_by_end_of_rotation on webhook_subscription (rotation_ends_at) where (rotation_ends_at is not null);
-- Serves webhook_delete_unread_listeners(). Few rows.
create index webhook_listener_by_last_read on webhook_subscription (last_read_at) where ((kind = 'LISTENER') and (deleted_at is null));
-- Serves the walk over those that can be deleted. A scan of subscriptions is short: no table of the history is read.
create index webhook_subscription_deleted on webhook_subscription (shard, deleted_at, id) where (deleted_at is not null);

create table webhook_subscription_event_type (
  subscription_id bigint not null,
  interface interface_name not null,
  event_type text not null constraint webhook_subscription_event_type_event_type_bounds check (octet_length(event_type) <= 100),
  -- The payload version that the subscription pins.
  event_version text not null constraint webhook_subscription_event_type_event_version_bounds check (octet_length(event_version) <= 100),
  primary key (subscription_id, event_type),
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
);
create index webhook_subscription_event_type_by_version on webhook_subscription_event_type (event_type, event_version);

-- The highest sequence of each subscription. A separate, narrow table, because fan-out updates it for every delivery.
create table webhook_subscription_sequence (
  subscription_id bigint primary key,
  interface interface_name not null,
  last_sequence bigint not null default 0,
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
) with (fillfactor = 50);

-- What is remembered about the receiver behind one callback URL of a subscription. No row: it has not failed. A row with
-- another url_number than the subscription has no meaning.
create table webhook_receiver_state (
  subscription_id bigint primary key references webhook_subscription,
  url_number int not null,
  -- Failed attempts since the last success, of any delivery.
  consecutive_failures int not null,
  -- Null while the breaker is closed.
  breaker_open_until timestamptz(3),
  breaker_probes int not null,
  -- Until when the receiver asked not to be called (Retry-After). Null if it did not.
  hold_until timestamptz(3),
  -- The first failure since the last success. Null if there was none.
  failing_since timestamptz(3),
  last_failure_at timestamptz(3),
  last_failed_delivery_id bigint
) with (fillfactor = 50);
-- Finds the receivers that fail. A failure after the first one does not change it.
create index webhook_receiver_state_failing on webhook_receiver_state (failing_since) where (failing_since is not null);

-- Counts the handshakes of an account per minute, to limit the requests that it can make us send.
create table webhook_handshake_count (
  account_id bigint not null,
  interface interface_name not null,
  minute timestamptz not null,
  handshakes int not null,
  test_events int not null default 0,
  primary key (account_id, minute),
  foreign key (account_id, interface) references account (id, interface)
);

-- What happened to the deliveries of a subscription in an hour. Workers of earlier releases count nothing.
--
-- A worker counts in memory what it records, and writes the counts once a minute. Each process writes separate rows, as totals, so
-- that a repeated write counts once, and the counts of processes that send for a subscription one after the other add up.
-- No subscription has 2^31 attempts in an hour.
create table webhook_hour_statistics (
  subscription_id bigint not null,
  hour timestamptz(3) not null,
  -- Of a process for the hour or a part of it: the time of its first count, and a random part.
  counter_id bigint not null,
  interface interface_name not null,
  delivered int not null,
  failed_attempts int not null,
  -- Deliveries that ended without success.
  failed int not null,
  -- From an event to its delivery. Null if nothing was delivered, or only what a retry or a replay queued.
  longest_wait_seconds int,
  -- To the minute. Null if nothing was delivered.
  last_delivered_at timestamptz(3),
  -- Changes at most once, so that the updates of a row change no index.
  has_delivered boolean not null generated always as (delivered > 0) stored,
  primary key (subscription_id, hour, counter_id)
) with (fillfactor = 50);
-- When something was last delivered.
create index webhook_hour_statistics_delivered on webhook_hour_statistics (subscription_id, hour, counter_id) where has_delivered;
-- Serves retention.
create index webhook_hour_statistics_by_hour on webhook_hour_statistics (hour);

-- Deleted subscriptions whose pending deliveries and receiver state must still be deleted. Empty most of the time. Without a
-- foreign key, so that no lock of a subscription delays its worker.
create table webhook_deleted_backlog (
  shard smallint not null generated always as ((account_id & 63::bigint)::smallint) stored,
  subscription_id bigint not null,
  account_id bigint not null,
  primary key (shard, subscription_id)
);
-- As webhook_event_queue, it has a generated column in its primary key. It has few rows.
create unique index webhook_deleted_backlog_identity on webhook_deleted_backlog (account_id, subscription_id);
alter table webhook_deleted_backlog replica identity using index webhook_deleted_backlog_identity;

-- A trigger, because the previous release of the APIs and of the operator's commands does not know the column.
create function set_callback_url_since() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.callback_url_since := case
    when new.callback_url = old.callback_url then coalesce(old.callback_url_since, old.url_number)
    else new.url_number
  end;
  return new;
end
$$;

-- In place of webhook_check_new_listener(). After the insert, so that it counts all rows of the statement.
create function webhook_check_new_subscription() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      noun constant text := case new.kind when 'LISTENER' then 'listeners' else 'subscriptions' end;
      rows_max constant int := case new.kind when 'LISTENER' then 10 else 20 end;
    begin
      -- It applies to the apps, and not to the owner of the database.
      if not row_security_active(tg_relid) then
        return null;
      end if;
      -- What a subscription has left behind can still name the id of one that is gone.
      if new.id < (floor(date_part('epoch', now()) * 1000)::bigint - 1767225600000 - 3600000) << 22 then
        raise exception 'The id % of a new subscription was drawn more than an hour ago.', new.id
          using errcode = 'insufficient_privilege';
      end if;
      -- With an earlier snapshot, transactions at the same time would not count each other's rows.
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'A subscription is created by a transaction that is read committed.'
          using errcode = 'insufficient_privilege';
      end if;
      -- That of lockSubscriptionsOfAccount() in packages/webhooks.
      perform pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || new.account_id, 0));
      if (
        select count(*)
        from {schema}.webhook_subscription
        where account_id = new.account_id and kind = new.kind and deleted_at is null
      ) > rows_max then
        raise exception 'The account % may have % %.', new.account_id, rows_max, noun
          using errcode = 'insufficient_privilege';
      end if;
      if new.kind <> 'LISTENER' then
        return null;
      end if;
      if exists (
        select from {schema}.account where id = new.account_id and webhook_listeners_forbidden_at is not null
      ) then
        raise exception 'The account % may have no listeners.', new.account_id using errcode = 'insufficient_privilege';
      end if;
      -- The column rounds.
      if new.last_read_at > now() + interval '1 second' then
        raise exception 'A listener cannot be read in the future.' using errcode = 'insufficient_privilege';
      end if;
      return null;
    end
    $$;

create function webhook_check_new_event_types() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      event_types_max constant int := 100;
      full_id bigint;
    begin
      if not row_security_active(tg_relid) then
        return null;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'Event types are added by a transaction that is read committed.'
          using errcode = 'insufficient_privilege';
      end if;
      -- Transactions at the same time count one after the other.
      perform from {schema}.webhook_subscription
      where id in (select subscription_id from added)
      order by id
      for no key update;
      select subscription_id into full_id
      from {schema}.webhook_subscription_event_type
      where subscription_id in (select subscription_id from added)
      group by subscription_id
      having count(*) > event_types_max
      limit 1;
      if found then
        raise exception 'The subscription % may have % event types.', full_id, event_types_max
          using errcode = 'insufficient_privilege';
      end if;
      return null;
    end
    $$;

-- As in 0027, and the time of a deletion is that of its transaction: it decides when the rows end.
create function webhook_check_changed_listener() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not row_security_active(tg_relid) then
    return new;
  end if;
  if old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at then
    raise exception 'The subscription % is deleted.', old.id using errcode = 'insufficient_privilege';
  end if;
  -- The column rounds.
  if old.deleted_at is null and new.deleted_at not between now() - interval '1 second' and now() + interval '1 second' then
    raise exception 'The subscription % is deleted now, and not at %.', old.id, new.deleted_at
      using errcode = 'insufficient_privilege';
  end if;
  if new.last_read_at < old.last_read_at or new.last_read_at > now() + interval '1 second' then
    raise exception 'The last read of the listener % was not at %.', old.id, new.last_read_at
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create function webhook_note_pause() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      if new.paused_reason is null then
        update {schema}.webhook_subscription_episode
        set state = 'RECOVERING', since = now()
        where subscription_id = new.id and state = 'PAUSED';
      elsif new.paused_reason <> 'OWNER' then
        insert into {schema}.webhook_subscription_episode (subscription_id, paused_reason, paused_at)
        values (new.id, new.paused_reason, new.paused_at)
        on conflict (subscription_id) do update set paused_reason = excluded.paused_reason, paused_at = excluded.paused_at;
      end if;
      return null;
    end
    $$;

create function webhook_note_lowered_timeout() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.timeout_lowered_at := case when tg_op = 'UPDATE' then clock_timestamp() end;
  return new;
end
$$;

-- APIs of earlier releases delete a subscription without erasing its name.
create function webhook_erase_name() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.name := null;
  return new;
end
$$;

-- Every release deletes a subscription without naming these columns.
create function webhook_erase_request_header() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.request_header_name := null;
  new.request_header_ciphertext := null;
  new.request_header_origin := null;
  return new;
end
$$;

-- Whether no worker of an earlier release runs, which would send without the headers. Workers belong to no interface, so the
-- interfaces do not read them.
create function webhook_sends_request_headers() returns boolean
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select not exists (
        select
        from {schema}.webhook_worker w
        where w.alive and w.leased_until > clock_timestamp() and not w.sends_request_headers
      )
    $$;

-- Completes up to `batch` rotations that have ended. An API of an earlier release deletes a subscription without erasing its
-- new secret.
create function webhook_end_rotations(batch int) returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      with ended as (
        select id
        from {schema}.webhook_subscription
        where not exists (select from {schema}.account_away a where a.account_id = webhook_subscription.account_id) and rotation_ends_at is not null and (rotation_ends_at <= now() or deleted_at is not null)
        order by rotation_ends_at
        limit batch
        for no key update skip locked
      ), completed as (
        update {schema}.webhook_subscription s
        set secret_ciphertext = case when s.deleted_at is null then s.next_secret_ciphertext else '' end,
          next_secret_ciphertext = null, rotation_started_at = null, rotation_ends_at = null
        from ended e
        where s.id = e.id
        returning 1
      )
      select count(*) from completed
    $$;

-- Deletes a listener as `deleteWebhookListener` does, without an entry of the audit log. Returns whether there was one.
create function webhook_delete_listener(listener bigint) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deleted record;
    begin
      update {schema}.webhook_subscription
      set deleted_at = now()
      where id = listener and kind = 'LISTENER' and deleted_at is null
      returning account_id, interface into deleted;
      if not found then
        return false;
      end if;
      delete from {schema}.webhook_subscription_event_type where subscription_id = listener;
      update {schema}.idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = deleted.account_id and mutation = 'createWebhookListener' and record_id = listener;
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      values (deleted.account_id, deleted.interface, listener);
      return true;
    end
    $$;

-- Deletes up to `batch` listeners that were not read for 24 hours, and returns the account of each. A read is noted at most
-- once an hour, so the last one can be an hour later than the noted one.
create function webhook_delete_unread_listeners(batch int) returns setof bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    declare
      unread record;
    begin
      for unread in
        select id, account_id, interface, last_read_at
        from {schema}.webhook_subscription
        where kind = 'LISTENER' and deleted_at is null and last_read_at < now() - interval '25 hours' and not exists (select from {schema}.account_away a where a.account_id = webhook_subscription.account_id)
        order by last_read_at
        limit batch
        for no key update skip locked
      loop
        perform {schema}.webhook_delete_listener(unread.id);
        insert into {schema}.audit_entry (transaction_id, action, subject, account_id, interface, details)
        values (
          pg_current_xact_id(), 'webhook_listener.expire',
          -- The namespace of global identifiers is known to the apps only.
          'WebhookListener/' || unread.id, unread.account_id, unread.interface,
          jsonb_build_object('lastReadAt', unread.last_read_at)
        );
        return next unread.account_id;
      end loop;
    end
    $$;

-- Deletes a subscription as `deleteWebhookSubscription` does, without an entry of the audit log. Returns whether there was one.
create function webhook_delete_subscription(subscription bigint) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deleted record;
    begin
      update {schema}.webhook_subscription
      set deleted_at = now(), name = null, callback_url = '', secret_ciphertext = '', next_secret_ciphertext = null,
        rotation_started_at = null, rotation_ends_at = null
      where id = subscription and kind = 'PUSH' and deleted_at is null
      returning account_id, interface into deleted;
      if not found then
        return false;
      end if;
      delete from {schema}.webhook_subscription_event_type where subscription_id = subscription;
      update {schema}.idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = deleted.account_id and mutation in ('createWebhookSubscription', 'rotateWebhookSecret')
        and record_id = subscription;
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      values (deleted.account_id, deleted.interface, subscription);
      return true;
    end
    $$;

-- Deletes the rows of these subscriptions, if they are deleted and have no replay, and returns the number of subscriptions.
-- Those that had a delivery stay unless `with_deliveries`, which is for those whose deliveries have been dropped. Those with a row
-- that another transaction holds stay too: a login of an interface can hold its event types for as long as it likes.
create function webhook_forget_subscriptions(ids bigint[], with_deliveries boolean) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      ids_max constant int := 1000;
      deleted_id bigint;
      forgotten bigint := 0;
    begin
      if cardinality(ids) > ids_max then
        raise exception 'At most % subscriptions are forgotten at once, not %.', ids_max, cardinality(ids);
      end if;
      for deleted_id in
        select s.id
        from {schema}.webhook_subscription s
        where s.id = any (ids) and s.deleted_at is not null and not exists (select from {schema}.account_away a where a.account_id = s.account_id)
        order by s.id
        for update skip locked
      loop
        -- A replay locks its subscription, so now none is added.
        continue when exists (select from {schema}.webhook_replay where subscription_id = deleted_id);
        continue when (
          select count(*) from {schema}.webhook_subscription_event_type where subscription_id = deleted_id
        ) > (
          select count(*)
          from (
            select from {schema}.webhook_subscription_event_type where subscription_id = deleted_id for update skip locked
          ) free
        );
        delete from {schema}.webhook_subscription_sequence
        where subscription_id = deleted_id and (with_deliveries or last_sequence = 0);
        continue when exists (select from {schema}.webhook_subscription_sequence where subscription_id = deleted_id);
        delete from {schema}.webhook_subscription_event_type where subscription_id = deleted_id;
        delete from {schema}.webhook_receiver_state where subscription_id = deleted_id;
        delete from {schema}.webhook_subscription where id = deleted_id;
        forgotten := forgotten + 1;
      end loop;
      return forgotten;
    end
    $$;

create trigger check_changed_listener before update of deleted_at, last_read_at on webhook_subscription for each row execute function
  webhook_check_changed_listener();
create trigger check_home before insert or update of callback_url, url_number, name, secret_ciphertext, next_secret_ciphertext,
  rotation_started_at, rotation_ends_at, send_pending_at, timeout_seconds, request_header_name, request_header_ciphertext,
  request_header_origin, deleted_at on webhook_subscription for each row when (current_setting('deedwire.homes', true) is distinct from
  '*') execute function check_home('account_id');
create trigger check_home_of_deleted before delete on webhook_subscription for each row when (current_setting('deedwire.homes', true) is
  distinct from '*') execute function check_home('account_id');
create trigger check_new_subscription after insert on webhook_subscription for each row execute function
  webhook_check_new_subscription();
create trigger clear_lowered_timeout before insert on webhook_subscription for each row when (new.timeout_lowered_at is not null)
  execute function webhook_note_lowered_timeout();
create trigger erase_name before update of deleted_at on webhook_subscription for each row when (new.deleted_at is not null) execute
  function webhook_erase_name();
create trigger erase_request_header before update of deleted_at on webhook_subscription for each row when (new.deleted_at is not null
  and new.request_header_name is not null) execute function webhook_erase_request_header();
create trigger note_lowered_timeout before update of timeout_seconds on webhook_subscription for each row when (new.timeout_seconds <
  old.timeout_seconds) execute function webhook_note_lowered_timeout();
create trigger note_pause after update of paused_reason, paused_at on webhook_subscription for each row when (new.kind = 'PUSH' and
  (new.paused_reason is distinct from old.paused_reason or new.paused_at is distinct from old.paused_at)) execute function
  webhook_note_pause();
create trigger set_callback_url_since before update of url_number on webhook_subscription for each row execute function
  set_callback_url_since();
create trigger check_home before insert on webhook_subscription_event_type for each row when (current_setting('deedwire.homes', true) is
  distinct from '*') execute function check_home('subscription_id');
create trigger check_home_of_deleted before delete on webhook_subscription_event_type for each row when
  (current_setting('deedwire.homes', true) is distinct from '*') execute function check_home('subscription_id');
create trigger check_new_event_types after insert on webhook_subscription_event_type referencing new table as added for each statement
  execute function webhook_check_new_event_types();
create trigger check_home before insert or update on webhook_handshake_count for each row when (current_setting('deedwire.homes', true)
  is distinct from '*') execute function check_home('account_id');

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- The outbox and the history of deliveries
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- The outbox. The transaction of a change inserts the event that reports it. `snapshot` contains everything that any version
-- of the payload needs; rendering reads no other table. `json`, because the worker needs the text: `jsonb` would be converted
-- twice.
create table webhook_event (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  event_type text not null,
  snapshot json not null,
  occurred_at timestamptz(3) not null default now(),
  -- The id of the request that made the change, for the logs. Null for changes made by an operator.
  request_id text,
  is_test boolean not null default false,
  record_id bigint,
  about_subscription_id bigint,
  foreign key (account_id, interface) references account (id, interface)
) partition by range (id);

-- The body of a delivery, stored once per event and version. Every attempt sends the same bytes.
create table webhook_payload (
  event_id bigint not null,
  event_version text not null,
  interface interface_name not null,
  body bytea not null,
  primary key (event_id, event_version)
) partition by range (event_id);

-- Written once, at fan-out. The status follows from the tables below:
--   FAILED or EXPIRED  in webhook_failed_delivery
--   PENDING            in webhook_pending_delivery
--   DELIVERED          otherwise
create table webhook_delivery (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  subscription_id bigint not null,
  interface interface_name not null,
  event_id bigint not null,
  event_type text not null,
  event_version text not null,
  occurred_at timestamptz(3) not null,
  -- Numbers the deliveries of a subscription from 1, without gaps.
  sequence bigint not null,
  is_test boolean not null default false,
  record_id bigint,
  erased_at timestamptz(3)
) partition by range (id);
create index webhook_delivery_by_subscription on webhook_delivery (subscription_id, id);
-- Finds the deliveries of the events about a record, newest first. One of events would not do: nothing finds the deliveries of an event,
-- which can be fanned out days later and out of order. Partitions of later days get it when they are attached.
create index webhook_delivery_by_record on webhook_delivery (record_id, account_id, id) where (record_id is not null);

create table webhook_attempt (
  delivery_id bigint not null,
  -- Numbers the attempts of a delivery from 1.
  number int not null,
  subscription_id bigint not null,
  interface interface_name not null,
  started_at timestamptz(3) not null,
  duration_ms int not null,
  -- Null if no response was received.
  response_status int,
  -- The class of the failure. Null if a complete response was received.
  error text,
  detail text,
  primary key (delivery_id, number)
) partition by range (delivery_id);
-- The deliveries with the status DELIVERED.
create index webhook_attempt_successful on webhook_attempt (subscription_id, delivery_id) where ((error is null) and ((response_status
  >= 200) and (response_status <= 299)));

-- What an attempt sent and received, for the owner of the webhook. Written once and after the attempt, without a guarantee: a row
-- can be missing.
--
-- Partitioned by the time at which the row was written, not by its delivery: an attempt of an old delivery would otherwise belong
-- to a day that has been dropped.
create table webhook_exchange (
  id bigint not null default new_record_id(),
  delivery_id bigint not null,
  -- With started_at, the attempt. Two workers can make attempts with the same number, of which one is recorded.
  number int not null,
  started_at timestamptz(3) not null,
  subscription_id bigint not null,
  interface interface_name not null,
  callback_url text,
  -- Names and values in turn, as are response_headers.
  request_headers text[] not null,
  -- Null if no address was tried. `text`, because `inet` has no zones.
  remote_address text,
  -- In milliseconds. Null for a step that the attempt did not take or complete.
  dns_ms int,
  connect_ms int,
  tls_ms int,
  first_byte_ms int,
  response_headers text[] not null,
  -- The beginning of the response body. Null if it was not kept.
  body bytea,
  -- How much of the response body was read.
  body_bytes int not null,
  -- url_number of the subscription when the target was read. Null if a worker of the previous release wrote the row.
  url_number int,
  -- The retry or replay that queued the delivery again. Null if fan-out did.
  replay_id bigint
) partition by range (id);
create index webhook_exchange_by_attempt on webhook_exchange (delivery_id, number);
alter table webhook_exchange replica identity full;

-- Deliveries that are not finished, with all that sending needs apart from the body. Only the owner of the shard writes here.
create table webhook_pending_delivery (
  subscription_id bigint not null,
  delivery_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  event_id bigint not null,
  event_type text not null,
  event_version text not null,
  occurred_at timestamptz(3) not null,
  request_id text,
  -- As in webhook_delivery. Orders deliveries that are due at the same time.
  sequence bigint not null,
  due_at timestamptz(3) not null,
  -- The number of attempts made.
  attempts int not null default 0,
  -- How many workers took the delivery and died before they recorded an attempt.
  takes int not null default 0,
  -- The size of the body, so that a reader can bound how much it reads.
  body_bytes int not null,
  -- How many of the attempts belong to earlier sendings. The schedule of retries starts after them.
  prior_attempts int not null default 0,
  -- The retry or replay that queued the delivery again. Null for a delivery that fan-out queued.
  replay_id bigint,
  is_test boolean not null default false,
  -- When the last attempt began, or when its `Retry-After` ends. Later while a former owner may still record one. Null before the
  -- first one, and if a worker of an earlier release recorded the last one.
  last_attempt_at timestamptz(3),
  -- It failed in a way that ends when the receiver works again: no connection, a timeout, 429 or 5xx. Null if no worker of this or a
  -- later release recorded one.
  last_is_transient boolean,
  claimed_at timestamptz(3)[],
  primary key (subscription_id, delivery_id)
);
create index webhook_pending_delivery_due on webhook_pending_delivery (subscription_id, due_at, sequence);

-- Deliveries that ended without success: FAILED, and EXPIRED if their id is below webhook_retention.expired_before.
create table webhook_failed_delivery (
  subscription_id bigint not null,
  delivery_id bigint not null,
  interface interface_name not null,
  is_erased boolean not null default false,
  claimed_at timestamptz(3)[],
  primary key (subscription_id, delivery_id)
);
-- Finds the deliveries that are EXPIRED because a person was erased. Few rows.
create index webhook_failed_delivery_erased on webhook_failed_delivery (subscription_id, delivery_id) where is_erased;

create table webhook_retention (
  only_row boolean default true check (only_row) primary key,
  -- Deliveries with a smaller id have expired: their payloads are deleted.
  expired_before bigint not null default 0
);

-- A request to send deliveries again: one delivery, or those of a subscription in a range. It is in progress until one of both
-- times is set, or the subscription is deleted.
create table webhook_replay (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  -- See shardOf() in packages/webhooks.
  shard smallint not null generated always as ((account_id & 63::bigint)::smallint) stored,
  interface interface_name not null,
  subscription_id bigint not null,
  -- The only delivery of a retry. Null for a replay.
  delivery_id bigint,
  -- Null for all types.
  event_types text[]
    constraint webhook_replay_event_types_bounds check (cardinality(event_types) <= 100 and octet_length(array_to_string(event_types, ''))
      <= 10000),
  only_failed boolean not null,
  -- How many deliveries may be queued per second.
  per_second int not null
    constraint webhook_replay_per_second_check check (per_second > 0)
    constraint webhook_replay_per_second_bounds check (per_second <= 500),
  -- Ids and sequences of deliveries, the first one included, the last one not. Null sequences do not restrict the range.
  from_id bigint not null constraint webhook_replay_from_id_bounds check (from_id >= 0),
  until_id bigint not null constraint webhook_replay_until_id_bounds check (until_id > 0),
  from_sequence bigint constraint webhook_replay_from_sequence_bounds check (from_sequence > 0),
  until_sequence bigint constraint webhook_replay_until_sequence_bounds check (until_sequence > 0),
  -- Everything up to this delivery is done. Written in the transaction that queues deliveries, by the owner of the shard only.
  last_id bigint not null constraint webhook_replay_last_id_bounds check (last_id >= '-1'::int and last_id <= '9223372036854775806'),
  queued int not null default 0,
  -- Deliveries that could not be queued: without a payload, or pending already.
  skipped int not null default 0,
  created_at timestamptz(3) not null default now(),
  cancelled_at timestamptz(3) constraint webhook_replay_cancelled_at_bounds check (cancelled_at between '1970-01-01Z' and '9999-12-31Z'),
  ended_at timestamptz(3),
  -- Included in `skipped`. Null for a replay from before this migration.
  skipped_pending int default 0,
  foreign key (subscription_id, interface) references webhook_subscription (id, interface)
);
create index webhook_replay_open on webhook_replay (shard, subscription_id) where ((ended_at is null) and (cancelled_at is null));
-- At most one replay of a subscription, and one retry of a delivery, is in progress.
create unique index webhook_replay_of_subscription on webhook_replay (subscription_id) where ((delivery_id is null) and (ended_at is
  null) and (cancelled_at is null));
create unique index webhook_replay_of_delivery on webhook_replay (delivery_id) where ((delivery_id is not null) and (ended_at is null)
  and (cancelled_at is null));
create index webhook_replay_by_account on webhook_replay (account_id, id) where (delivery_id is null);
create index webhook_retry_by_account on webhook_replay (account_id, id) where (delivery_id is not null);
-- Serves the foreign key. Few rows: retries are deleted after a day.
create index webhook_replay_by_subscription on webhook_replay (subscription_id);

alter table webhook_event add constraint webhook_event_is_readable check (
  octet_length(snapshot::text) <= 500000
  and octet_length(event_type) <= 100
  and octet_length(coalesce(request_id, '')) <= 200
) not valid;
alter table webhook_event add constraint webhook_event_is_jsonb check (snapshot is null or snapshot::jsonb is not null) not valid;

-- Creates the missing partitions of the history, from yesterday (the clock can be set back) to `days_ahead` days from
-- today. A partition holds the ids of one day, from midnight UTC. It is created and then attached, because `create table …
-- partition of` locks out every reader of the parent. The bound keeps a compromised login from filling the catalog.
create procedure webhook_create_partitions(in days_ahead int)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      days_ahead_max constant int := 366;
      parent text;
      day date;
      partition_name text;
      today date := (clock_timestamp() at time zone 'UTC')::date;
    begin
      if days_ahead is null or days_ahead > days_ahead_max then
        raise exception 'Partitions are created for at most % days, not %.', days_ahead_max, days_ahead;
      end if;
      foreach parent in array
        array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt', 'webhook_exchange']
      loop
        for day in select generate_series(today - 1, today + days_ahead, interval '1 day')::date loop
          partition_name := parent || to_char(day, '_YYYYMMDD');
          continue when to_regclass(format('%I.%I', {schema_text}, partition_name)) is not null;
          execute format('create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints)',
            {schema_text}, partition_name, parent);
          if parent = 'webhook_exchange' then
            execute format('alter table %I.%I replica identity full', {schema_text}, partition_name);
          end if;
          execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$s) to (%5$s)',
            {schema_text}, partition_name, parent,
            (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
        end loop;
      end loop;
    end
    $$;

-- The partitions of the history that are no longer needed, in the order in which they are dropped: first those that an
-- interrupted detach has left, because a table can have only one of them, then the oldest; deliveries before attempts,
-- because a late success is recorded only if its delivery exists.
--
-- A day of deliveries expires `retention_days` after it, and not before webhook_retention says so. Its deliveries and
-- attempts stay for 7 more days. Events and payloads stay for one more day, because an event is fanned out after its id
-- was drawn.
create function webhook_due_partitions(retention_days int) returns table (parent text, name text, state text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      retention_days_min constant int := 1;
      expired date;
    begin
      if retention_days is null or retention_days < retention_days_min then
        raise exception 'The webhook history is kept for at least % day, not %.', retention_days_min, retention_days;
      end if;
      select least(
        (clock_timestamp() at time zone 'UTC')::date - retention_days,
        date '2026-01-01' + ((expired_before >> 22) / 86400000)::int
      ) into expired from {schema}.webhook_retention;
      return query
        select kept.parent, c.relname::text,
          case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'detaching' else 'attached' end
        from (
          values (1, 'webhook_event', 1), (2, 'webhook_payload', 1), (3, 'webhook_delivery', 7), (4, 'webhook_attempt', 7)
        ) as kept (position, parent, days)
        join pg_class c on c.relname ~ ('^' || kept.parent || '_\d{8}$')
        left join pg_inherits i on i.inhrelid = c.oid
        where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relkind = 'r'
          and right(c.relname::text, 8) < to_char(expired - kept.days, 'YYYYMMDD')
        order by coalesce(i.inhdetachpending, false) desc, right(c.relname::text, 8), kept.position;
    end
    $$;

-- Drops the first partition of the list above, and returns its name, or null if the list is empty. While this function
-- waits for its locks, all that use the table wait behind it. So the lock timeout is short, and the caller tries again.
--
-- An attached partition is dropped as it is. Detached, it would have a foreign key of its own, and dropping that one locks
-- the accounts. Workers of earlier releases detached concurrently, which a function cannot do. It finishes what they left.
create function webhook_drop_partition(retention_days int) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
    declare
      due record;
    begin
      select * into due from {schema}.webhook_due_partitions(retention_days) limit 1;
      if not found then
        return null;
      end if;
      if due.state <> 'detached' then
        execute format('lock table only %I.%I in access exclusive mode', {schema_text}, due.parent);
      end if;
      if due.state = 'detaching' then
        execute format('alter table %1$I.%2$I detach partition %1$I.%3$I finalize', {schema_text}, due.parent, due.name);
      end if;
      execute format('drop table %I.%I', {schema_text}, due.name);
      return due.name;
    end
    $$;

-- The partitions of webhook_exchange whose rows are all older than `keep_days`, oldest first. They need no other row and no
-- other row needs them, so this does not depend on webhook_retention.
create function webhook_due_exchange_partitions(keep_days int) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      keep_days_min constant int := 1;
    begin
      if keep_days is null or keep_days < keep_days_min then
        raise exception 'The details of attempts are kept for at least % day, not %.', keep_days_min, keep_days;
      end if;
      return query
        select c.relname::text
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.webhook_exchange', {schema_text})::regclass
          and c.relname ~ '^webhook_exchange_\d{8}$'
          and right(c.relname::text, 8) < to_char((clock_timestamp() at time zone 'UTC')::date - keep_days, 'YYYYMMDD')
        order by 1;
    end
    $$;

-- Drops the first partition of the list above, and returns its name, or null if the list is empty. The lock timeout is that
-- of webhook_drop_partition.
create function webhook_drop_exchange_partition(keep_days int) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
    declare
      due text;
    begin
      select * into due from {schema}.webhook_due_exchange_partitions(keep_days) limit 1;
      if due is null then
        return null;
      end if;
      lock table only {schema}.webhook_exchange in access exclusive mode;
      execute format('drop table %I.%I', {schema_text}, due);
      return due;
    end
    $$;

-- Deletes what attempts of these deliveries sent and received. The subscription must be deleted. Served by
-- webhook_exchange_by_attempt. The bound of the ids excludes the partitions of coming days.
create function webhook_erase_exchanges(of_subscription bigint, of_deliveries bigint[]) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deliveries_max constant int := 1000;
      erased bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'The exchanges of at most % deliveries are erased at once, not of %.', deliveries_max,
          cardinality(of_deliveries);
      end if;
      delete from {schema}.webhook_exchange e
      using {schema}.webhook_subscription s
      where s.id = of_subscription and s.deleted_at is not null and not exists (select from {schema}.account_away a where a.account_id = s.account_id)
        and e.delivery_id = any (of_deliveries) and e.subscription_id = of_subscription
        and e.id < (extract(epoch from clock_timestamp() - timestamptz '2026-01-01Z')::bigint + 86400) * 1000 << 22;
      get diagnostics erased = row_count;
      return erased;
    end
    $$;

-- The worker sent a delivery of another account to the URL of the subscription, and its owner could not retry it. A foreign key
-- would keep the partitions of deliveries from being dropped.
create function webhook_check_new_replay() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      is_own boolean;
    begin
      if not row_security_active(tg_relid) then
        return new;
      end if;
      if not exists (
        select from {schema}.webhook_subscription where id = new.subscription_id and account_id = new.account_id
      ) then
        raise exception 'The account % has no subscription %.', new.account_id, new.subscription_id
          using errcode = 'insufficient_privilege';
      end if;
      if new.delivery_id is not null then
        -- Planned for the id, so that it locks one partition.
        execute 'select exists (select from {schema}.webhook_delivery where id = $1 and subscription_id = $2)'
          into is_own using new.delivery_id, new.subscription_id;
        if not is_own then
          raise exception 'The subscription % has no delivery %.', new.subscription_id, new.delivery_id
            using errcode = 'insufficient_privilege';
        end if;
      end if;
      return new;
    end
    $$;

create function keep_cancellation() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    begin
      raise exception 'The replay % has been cancelled since %.', old.id, old.cancelled_at using errcode = 'insufficient_privilege';
    end
    $$;

create trigger check_home before insert or update of cancelled_at on webhook_replay for each row when (current_setting('deedwire.homes',
  true) is distinct from '*') execute function check_home('account_id');
create trigger check_new_replay before insert on webhook_replay for each row execute function webhook_check_new_replay();
create trigger keep_cancellation before update of cancelled_at on webhook_replay for each row when (old.cancelled_at is not null and
  new.cancelled_at is distinct from old.cancelled_at) execute function keep_cancellation();

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Workers, and what they have to do
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- What the owner of a shard has left to do for its accounts, in the order of position:
--   event_id                      fan out the event to the subscriptions of its account
--   event_id and subscription_id  fan out the event to this subscription only
--   subscription_id               the subscription was created, changed, paused, resumed or deleted
create table webhook_event_queue (
  shard smallint not null generated always as ((account_id & 63::bigint)::smallint) stored,
  position bigint not null default nextval('webhook_queue_position'),
  account_id bigint not null,
  interface interface_name not null,
  event_id bigint constraint webhook_event_queue_event_id_bounds check (event_id > 0),
  subscription_id bigint constraint webhook_event_queue_subscription_id_bounds check (subscription_id > 0),
  -- How many workers took the entry and died before they finished it.
  takes int not null default 0,
  -- The event type, if the owner does not know it or a version of it that a subscription pins. 'REFUSED' if the database
  -- refused what the entry leads to. Null if the entry can be fanned out.
  blocked_on text,
  check (event_id is not null or subscription_id is not null),
  primary key (shard, "position"),
  foreign key (account_id, interface) references account (id, interface)
);
create index webhook_event_queue_ready on webhook_event_queue (shard, "position") where (blocked_on is null);
create index webhook_event_queue_blocked on webhook_event_queue (shard, account_id, blocked_on, coalesce(subscription_id, (0)::bigint),
  "position") where (blocked_on is not null);
-- Finds the first entries of an account in the queue: the changes of its subscriptions, then its events. Workers of earlier releases
-- do not read it.
create index webhook_event_queue_by_account on webhook_event_queue (shard, account_id, ((event_id is not null)), "position") where
  (blocked_on is null);
-- Names an entry of the queue in a publication of the table. From version 18 on, PostgreSQL refuses updates and deletes of a published
-- table whose replica identity contains a generated column, such as `shard`. It refuses no entry that the primary key accepts, because
-- the account determines the shard.
create unique index webhook_event_queue_identity on webhook_event_queue (account_id, "position");
alter table webhook_event_queue replica identity using index webhook_event_queue_identity;

-- A running worker process. The row is the fence: a statement that writes for the worker locks it `for key share` and writes
-- nothing unless it is alive.
create table webhook_worker (
  id bigint generated always as identity primary key,
  -- Host and process id, for operators.
  name text not null,
  -- False once another worker has taken over. It never becomes true again.
  alive boolean not null default true,
  -- True while the worker shuts down: it takes no shards, and records what it has in flight.
  leaving boolean not null default false,
  started_at timestamptz(3) not null default now(),
  leased_until timestamptz(3) not null,
  lease_ms int,
  quiet_at timestamptz(3) constraint webhook_worker_quiet_at_bounds check (quiet_at between '1970-01-01Z' and '9999-12-31Z'),
  sends_request_headers boolean not null default false,
  sends_mail boolean not null default false
);

-- Every account belongs to one shard. Only the worker that owns the shard fans out and sends for its accounts.
create table webhook_shard (
  shard smallint check (shard between 0 and 63) primary key,
  -- Null while no worker owns the shard.
  worker_id bigint references webhook_worker,
  -- An owner died, and what it left was not all taken since. It is counted first, in case it ended that process.
  recovering boolean not null default false
) with (fillfactor = 50);

create function webhook_has_worker(account_id bigint) returns boolean
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select exists (
        select
        from {schema}.webhook_shard s
        join {schema}.webhook_worker w on w.id = s.worker_id
        where s.shard = ($1 & 63)::smallint and w.alive and w.leased_until > clock_timestamp()
      )
    $$;

-- The oldest event of an account that waits for its fan-out, up to the length of a transaction. Null if there is none, and for an
-- account of another interface than that of the login. Served by webhook_event_queue_by_account and webhook_event_queue_blocked,
-- whose groups it jumps along. The rows are compared and ordered by all columns of the index, because with statistics of an empty
-- queue PostgreSQL would read all entries of the shard.
create function webhook_oldest_queued_event(account_id bigint) returns bigint
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      with recursive blocked as (
        select '' as blocked_on, 0::bigint as subscription_id, null::bigint as event_id
        union all
        select next.*
        from blocked
        cross join lateral (
          select q.blocked_on, coalesce(q.subscription_id, 0), q.event_id
          from {schema}.webhook_event_queue q
          where q.shard = ($1 & 63)::smallint and q.blocked_on is not null and q.account_id <= $1 and q.event_id is not null
            and (q.account_id, q.blocked_on, coalesce(q.subscription_id, 0)) > ($1, blocked.blocked_on, blocked.subscription_id)
          order by q.account_id, q.blocked_on, coalesce(q.subscription_id, 0), q.position
          limit 1
        ) next
      )
      select least(
        (select min(event_id) from blocked),
        (
          select q.event_id
          from {schema}.webhook_event_queue q
          where q.shard = ($1 & 63)::smallint and q.blocked_on is null and q.account_id <= $1
            and (q.account_id, (q.event_id is not null), q.position) > ($1, true, 0)
          order by q.account_id, (q.event_id is not null), q.position
          limit 1
        )
      )
      where {schema}.session_sees_account($1)
    $$;

-- The processes that may still send deliveries of accounts that were frozen at this time, or record their attempts. Freezing waits
-- until there are none. A worker whose lease has expired is declared dead first: then it writes nothing, and sends nothing for
-- longer than 5 seconds.
create function webhook_unquiet_workers(since timestamptz) returns table (name text)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      update {schema}.webhook_worker set alive = false where alive and leased_until < clock_timestamp();
      with ended as (
        -- The others have a statement that began while they were alive.
        select id from {schema}.webhook_worker where not alive for update skip locked
      )
      select w.name
      from {schema}.webhook_worker w
      where case when w.alive then w.quiet_at < since or w.quiet_at is null else w.id not in (select id from ended) end
      order by w.id
    $$;

create trigger check_home before insert on webhook_event_queue for each row when (current_setting('deedwire.homes', true) is distinct
  from '*') execute function check_home('account_id');

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Alerts
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- What alerts have said about a subscription. Apart from webhook_receiver_state, which ends with a pause and with a change of the URL.
-- No row: nothing yet.
create table webhook_subscription_episode (
  subscription_id bigint primary key,
  -- DISRUPTED from `webhook_subscription.disrupted` on; PAUSED while the subscription is paused; RECOVERING from a success, a change of
  -- the URL or the end of the pause on, for 5 minutes without failures.
  state text not null default 'HEALTHY' check (state in ('HEALTHY', 'DISRUPTED', 'PAUSED', 'RECOVERING')),
  since timestamptz(3) not null default now(),
  -- When the last episode began: its `webhook_subscription.disrupted`. Null: there was none.
  episode timestamptz(3),
  -- The pause that is to be reported. Null: there is none. 0044 sets it.
  paused_reason text,
  paused_at timestamptz(3),
  foreign key (subscription_id) references webhook_subscription (id) on delete cascade
) with (fillfactor = 50);
-- Those that can change without a change of the subscription, or are to be reported.
create index webhook_subscription_episode_open on webhook_subscription_episode (subscription_id) where ((state in ('DISRUPTED',
  'RECOVERING')) or (paused_reason is not null));

-- Deliveries that have failed for ever, which no alert has reported. For minutes: webhook_raise_alerts() deletes what it reports.
-- None for an alert: alerts about alerts would not end.
create table webhook_failure_to_report (
  subscription_id bigint not null,
  failed_at timestamptz(3) not null default now(),
  delivery_id bigint not null,
  primary key (subscription_id, failed_at, delivery_id)
);

-- RFC 3339 in UTC, as in all payloads.
create function webhook_alert_time(at timestamptz) returns text
language sql stable
set search_path = pg_catalog, pg_temp
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Appends an alert about a subscription to the outbox of its account, and has it sent by mail. The data has the form of
-- `EventSnapshots`.
create function webhook_append_alert(subscription webhook_subscription, type text, data jsonb, gid_namespace text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
      with event as (
        insert into {schema}.webhook_event (account_id, interface, event_type, snapshot, about_subscription_id)
        values (subscription.account_id, subscription.interface, type, (data || jsonb_build_object('webhookSubscription',
          jsonb_build_object('id', 'gid://' || gid_namespace || '/WebhookSubscription/' || subscription.id, 'name', subscription.name)
        ))::json, subscription.id)
        returning id
      )
      insert into {schema}.webhook_event_queue (account_id, interface, event_id)
      select subscription.account_id, subscription.interface, id
      from event;
      select {schema}.add_contact_mails(subscription.account_id, case type
        when 'webhook_subscription.disrupted' then 'DISRUPTED'
        when 'webhook_subscription.paused' then 'PAUSED'
        when 'webhook_subscription.recovered' then 'RECOVERED'
        when 'webhook_delivery.failed' then 'FAILED'
      -- It lists no deliveries.
      end, subscription.id, null, data - 'webhookDeliveryIds')
    $$;

-- Compares what alerts have said about a subscription with its state, and appends the alerts that are due. Returns their number.
-- Calls for one subscription take turns.
create function webhook_raise_alerts(of_subscription bigint, gid_namespace text) returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      failing_after constant interval := '5 minutes';
      success_holds_after constant interval := '5 minutes';
      episodes_apart constant interval := '1 hour';
      -- After an earlier failure, nothing is known of the receiver.
      failure_counts_for constant interval := '1 hour';
      failure_window constant interval := '5 minutes';
      -- The next call reports more.
      reported_max constant int := 10000;
      listed_max constant int := 10;
      subscription {schema}.webhook_subscription;
      receiver {schema}.webhook_receiver_state;
      known {schema}.webhook_subscription_episode;
      next_state text;
      window_start timestamptz;
      first_failed_at timestamptz;
      failed bigint[];
      raised int := 0;
    begin
      if (gid_namespace ~ '^[a-z][a-z0-9-]{0,99}$') is not true then
        raise exception 'The namespace % is not one of global identifiers.', gid_namespace;
      end if;
      if exists (
        select from {schema}.webhook_subscription s join {schema}.account_away a on a.account_id = s.account_id where s.id = of_subscription
      ) then
        return raised;
      end if;
      insert into {schema}.webhook_subscription_episode (subscription_id)
      select id from {schema}.webhook_subscription where id = of_subscription and kind = 'PUSH' and deleted_at is null
      on conflict do nothing;
      select * into known from {schema}.webhook_subscription_episode where subscription_id = of_subscription for update;
      select * into subscription
      from {schema}.webhook_subscription
      where id = of_subscription and kind = 'PUSH' and deleted_at is null;
      if not found then
        -- Nothing is reported after the deletion.
        delete from {schema}.webhook_failure_to_report where subscription_id = of_subscription;
        return raised;
      end if;
      -- Null: the receiver does not fail.
      select * into receiver
      from {schema}.webhook_receiver_state
      where subscription_id = of_subscription and url_number = subscription.url_number and consecutive_failures > 0;

      if known.paused_reason is not null then
        update {schema}.webhook_subscription_episode
        set paused_reason = null, paused_at = null
        where subscription_id = of_subscription;
        perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.paused', jsonb_build_object(
          'reason', known.paused_reason, 'pausedAt', {schema}.webhook_alert_time(known.paused_at)
        ), gid_namespace);
        raised := raised + 1;
      end if;

      next_state := case
        when known.state = 'HEALTHY' then
          case when subscription.paused_reason is null and receiver.failing_since <= now() - failing_after
            and receiver.last_failure_at > now() - failure_counts_for
            and (known.episode is null or known.episode <= now() - episodes_apart) then 'DISRUPTED' end
        when subscription.paused_reason is not null then 'PAUSED'
        when receiver.consecutive_failures > 0 then 'DISRUPTED'
        when known.state <> 'RECOVERING' then 'RECOVERING'
        when known.since <= now() - success_holds_after then 'HEALTHY'
      end;
      if next_state <> known.state then
        update {schema}.webhook_subscription_episode
        set state = next_state, since = now(), episode = case when known.state = 'HEALTHY' then now() else episode end
        where subscription_id = of_subscription;
        if known.state = 'HEALTHY' then
          perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.disrupted', jsonb_build_object(
            'failingSince', {schema}.webhook_alert_time(receiver.failing_since),
            'consecutiveFailures', receiver.consecutive_failures
          ), gid_namespace);
          raised := raised + 1;
        elsif next_state = 'HEALTHY' then
          perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.recovered', jsonb_build_object(
            'disruptedAt', {schema}.webhook_alert_time(known.episode)
          ), gid_namespace);
          raised := raised + 1;
        end if;
      end if;

      select min(failed_at) into window_start
      from {schema}.webhook_failure_to_report
      where subscription_id = of_subscription;
      if window_start <= now() - failure_window then
        with due as (
          select ctid
          from {schema}.webhook_failure_to_report
          where subscription_id = of_subscription and failed_at < window_start + failure_window
          order by failed_at
          limit reported_max
        ), noted as (
          delete from {schema}.webhook_failure_to_report r
          using due
          where r.ctid = due.ctid
          returning r.delivery_id, r.failed_at
        )
        -- Without those that are pending again, or were delivered since.
        select array_agg(distinct delivery_id order by delivery_id), min(failed_at) into failed, first_failed_at
        from noted
        where exists (
          select
          from {schema}.webhook_failed_delivery f
          where f.subscription_id = of_subscription and f.delivery_id = noted.delivery_id
        );
        if failed is not null then
          perform {schema}.webhook_append_alert(subscription, 'webhook_delivery.failed', jsonb_build_object(
            'since', {schema}.webhook_alert_time(first_failed_at),
            'failedCount', cardinality(failed),
            'webhookDeliveryIds', (
              select jsonb_agg('gid://' || gid_namespace || '/WebhookDelivery/' || id order by id)
              from unnest(failed[:listed_max]) as id
            )
          ), gid_namespace);
          raised := raised + 1;
        end if;
      end if;
      return raised;
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Contact addresses
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- What identifies a person is here only, so that `person erase` has one row to delete.
create table contact_email (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  -- As isContactEmail() checks it, for logins of interfaces too: with quotes or comments, one mailbox would have many addresses. In ASCII,
  -- so that every locale compares addresses alike.
  email text not null
    constraint contact_email_email_bounds check (
      octet_length(email) <= 254
      and email ~ '^[A-Za-z0-9_.!#$%&''*+/=?^`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[.])+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$'
    ),
  created_at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3),
  bounces int not null default 0,
  stopped_at timestamptz(3),
  unsubscribed_from text[] not null default '{}'::text[]
    constraint contact_email_unsubscribed_from_bounds check (
      unsubscribed_from <@ array['DISRUPTED', 'PAUSED', 'RECOVERED', 'FAILED', 'KEY_EXPIRING']
    ),
  foreign key (account_id, interface) references account (id, interface)
);
create unique index contact_email_by_account on contact_email (account_id, lower((email collate "C")));
alter index contact_email_by_account alter column 2 set statistics 0;
create index contact_email_unconfirmed on contact_email (created_at) where (confirmed_at is null);
-- An erasure looks in all accounts.
create index contact_email_by_email on contact_email (lower((email collate "C")));
alter index contact_email_by_email alter column 1 set statistics 0;
alter table contact_email alter column email set statistics 0;

-- The confirmations that were asked for within a day: the limits count them.
create table contact_confirmation (
  id bigint default new_record_id() primary key,
  account_id bigint not null,
  interface interface_name not null,
  -- From contact_address_hash(). Of any account: an owner of many accounts must not send a person many mails.
  address_hash bytea not null constraint contact_confirmation_address_hash_bounds check (octet_length(address_hash) = 32),
  created_at timestamptz(3) not null default now(),
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_confirmation_by_account on contact_confirmation (account_id, created_at);
create index contact_confirmation_by_address on contact_confirmation (address_hash, created_at);
create index contact_confirmation_by_age on contact_confirmation (created_at);

-- A token in a link of a mail. Each attempt to send a mail has its own, because only the hash is stored: every copy that arrives works.
create table contact_token (
  -- SHA-256 of the token.
  token_hash bytea constraint contact_token_token_hash_bounds check (octet_length(token_hash) = 32) primary key,
  contact_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  -- Null: the token confirms the address. Otherwise it ends mails with this subject.
  subject text,
  expires_at timestamptz(3) not null,
  foreign key (contact_id) references contact_email (id) on delete cascade,
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_token_by_contact on contact_token (contact_id);
create index contact_token_by_account on contact_token (account_id);
create index contact_token_by_expiry on contact_token (expires_at);

-- A mail to send, or that was written in the last 3 days. Without texts of the account: names are read when it is sent.
create table contact_mail (
  -- Its Message-ID has it.
  id bigint default new_record_id() primary key,
  contact_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  subject text not null
    constraint contact_mail_subject_bounds check (
      subject in ('CONFIRMATION', 'DISRUPTED', 'PAUSED', 'RECOVERED', 'FAILED', 'KEY_EXPIRING')
    ),
  subscription_id bigint,
  key_id text,
  data jsonb not null default '{}'::jsonb,
  created_at timestamptz(3) not null default now(),
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  is_sent boolean not null default false,
  foreign key (contact_id) references contact_email (id) on delete cascade,
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_mail_due on contact_mail (next_attempt_at) where (ended_at is null);
create index contact_mail_by_contact on contact_mail (contact_id, coalesce((subscription_id)::text, key_id), subject);
create index contact_mail_by_account on contact_mail (account_id);
create index contact_mail_by_age on contact_mail (created_at);

-- Of an address without what follows a "+", and without dots before the "@": for many servers, it is the same mailbox. Salted, so that no
-- other database has the hash.
create function contact_address_hash(email text) returns bytea
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select sha256(convert_to(
        installation_id::text || ' ' || lower(replace(split_part(split_part(email, '@', 1), '+', 1), '.', '') || '@' || split_part(email, '@', 2) collate "C"),
        'UTF8'
      ))
      from {schema}.installation
    $$;

-- Writes an entry of the audit log about a contact address, without the address.
create function audit_contact(contact contact_email, action text, details jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
      insert into {schema}.audit_entry (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
      select pg_current_xact_id(), case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250),
        left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), audit_contact.action, 'ContactEmail/' || contact.id,
        contact.account_id, contact.interface,
        details || jsonb_strip_nulls(jsonb_build_object('command', left(claim ->> 'command', 100)))
      from (
        select case when {schema}.session_is_operator() then nullif(current_setting('deedwire.audit_claim', true), '')::jsonb end as claim
      ) c
    $$;

-- Replaces the contact addresses of an account, and has a confirmation sent to each that is not confirmed and got none within 10
-- minutes. Returns why nothing was changed, or null. `has_portal`: whether a portal serves the links.
create function update_contact_emails(of_account bigint, emails text[], has_portal boolean) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      addresses_max constant int := 5;
      of_account_max constant int := 10;
      of_address_max constant int := 3;
      again_after constant interval := '10 minutes';
      own {schema}.account;
      wanted text[];
      due text[];
      each bytea;
    begin
      -- Two updates of an account take turns.
      select * into own from {schema}.account a where a.id = of_account and {schema}.session_sees_account(a.id) for no key update;
      if not found then
        return 'NO_ACCOUNT';
      end if;
      perform {schema}.check_homes(array[of_account]);
      wanted := array(select distinct on (lower(e collate "C")) e from unnest(emails) e order by lower(e collate "C"), e);
      if cardinality(wanted) > addresses_max then
        raise exception 'An account has at most % contact addresses, not %.', addresses_max, cardinality(wanted)
          using errcode = 'insufficient_privilege';
      end if;
      due := array(
        select e
        from unnest(wanted) e
        left join {schema}.contact_email c on c.account_id = of_account and lower(c.email collate "C") = lower(e collate "C")
        where c.id is null or c.confirmed_at is null and c.stopped_at is null and not exists (
          select from {schema}.contact_mail m
          where m.contact_id = c.id and m.subject = 'CONFIRMATION' and m.created_at > now() - again_after
        )
      );
      if cardinality(due) > 0 then
        if has_portal is not true or not exists (
          select from {schema}.webhook_worker w where w.alive and w.leased_until > clock_timestamp() and w.sends_mail
        ) then
          return 'MAIL_UNAVAILABLE';
        end if;
        if cardinality(due) + (
          select count(*) from {schema}.contact_confirmation n where n.account_id = of_account and n.created_at > now() - interval '1 day'
        ) > of_account_max then
          return 'ACCOUNT_LIMIT';
        end if;
        -- Other accounts can ask for the same address. In one order, so that none waits for another in a circle.
        for each in select distinct {schema}.contact_address_hash(e) h from unnest(due) e order by h loop
          perform pg_advisory_xact_lock(hashtextextended('contact ' || encode(each, 'hex'), 0));
          if (
            select count(*) from {schema}.contact_confirmation n where n.address_hash = each and n.created_at > now() - interval '1 day'
          ) + (select count(*) from unnest(due) e where {schema}.contact_address_hash(e) = each) > of_address_max then
            return 'ADDRESS_LIMIT';
          end if;
        end loop;
      end if;
      delete from {schema}.contact_email c
      where c.account_id = of_account and lower(c.email collate "C") <> all (array(select lower(e collate "C") from unnest(wanted) e));
      insert into {schema}.contact_email (account_id, interface, email)
      select own.id, own.interface, e from unnest(due) e
      on conflict (account_id, lower(email collate "C")) do nothing;
      insert into {schema}.contact_mail (contact_id, account_id, interface, subject)
      select c.id, c.account_id, c.interface, 'CONFIRMATION'
      from unnest(due) e
      join {schema}.contact_email c on c.account_id = of_account and lower(c.email collate "C") = lower(e collate "C");
      insert into {schema}.contact_confirmation (account_id, interface, address_hash)
      select own.id, own.interface, {schema}.contact_address_hash(e) from unnest(due) e;
      return null;
    end
    $$;

-- Confirms the address to which the token was sent. False if there is no such token, or it has expired. Again, it does nothing.
create function confirm_contact_email(of_token bytea) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      contact {schema}.contact_email;
    begin
      select c.* into contact
      from {schema}.contact_token t
      join {schema}.contact_email c on c.id = t.contact_id
      where t.token_hash = of_token and t.subject is null and t.expires_at > now() and {schema}.session_sees_account(c.account_id)
      for no key update of c;
      if not found then
        return false;
      end if;
      if contact.confirmed_at is null then
        perform {schema}.check_homes(array[contact.account_id]);
        update {schema}.contact_email set confirmed_at = now(), bounces = 0 where id = contact.id;
        -- Copies of the link that are still to be sent.
        update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and ended_at is null;
        perform {schema}.audit_contact(contact, 'contact_email.confirm', '{}');
      end if;
      return true;
    end
    $$;

-- Ends the mails with the subject of the mail in which the token was sent, and returns it. Null if there is no such token, or it has
-- expired. Again, it does nothing.
create function unsubscribe_contact_email(of_token bytea) returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      of_subject text;
      contact {schema}.contact_email;
    begin
      select t.subject into of_subject
      from {schema}.contact_token t
      where t.token_hash = of_token and t.subject is not null and t.expires_at > now() and {schema}.session_sees_account(t.account_id);
      if not found then
        return null;
      end if;
      select c.* into contact
      from {schema}.contact_token t
      join {schema}.contact_email c on c.id = t.contact_id
      where t.token_hash = of_token
      for no key update of c;
      if found and not contact.unsubscribed_from @> array[of_subject] then
        perform {schema}.check_homes(array[contact.account_id]);
        update {schema}.contact_email set unsubscribed_from = unsubscribed_from || of_subject where id = contact.id;
        update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and subject = of_subject and ended_at is null;
        perform {schema}.audit_contact(contact, 'contact_email.unsubscribe', jsonb_build_object('subject', of_subject));
      end if;
      return of_subject;
    end
    $$;

-- Has a mail sent to each contact address of an account that gets this subject. A mail about the same that was not attempted yet tells both.
create function add_contact_mails(of_account bigint, of_subject text, of_subscription bigint, of_key text, new_data jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      contacts bigint[];
      merged bigint[];
    begin
      -- Before the mails, as an update that deletes an address.
      select array_agg(c.id) into contacts
      from (
        select id
        from {schema}.contact_email
        where account_id = of_account and confirmed_at is not null and stopped_at is null and not unsubscribed_from @> array[of_subject]
        order by id
        for key share
      ) c;
      if contacts is null then
        return;
      end if;
      with updated as (
        update {schema}.contact_mail m
        set data = case when of_subject = 'FAILED' then jsonb_build_object(
            'since', least(m.data ->> 'since', new_data ->> 'since'),
            'failedCount', (m.data ->> 'failedCount')::bigint + (new_data ->> 'failedCount')::bigint
          ) else new_data end,
          -- The 3 days for which it is tried begin anew.
          created_at = now(),
          -- The clock can have been set back since.
          next_attempt_at = least(m.next_attempt_at, now() + interval '4 hours')
        where m.contact_id = any (contacts) and m.subject = of_subject and m.ended_at is null and m.attempts = 0
          and coalesce(m.subscription_id::text, m.key_id) = coalesce(of_subscription::text, of_key)
        returning m.contact_id
      )
      select array_agg(contact_id) into merged from updated;
      insert into {schema}.contact_mail (contact_id, account_id, interface, subject, subscription_id, key_id, data, next_attempt_at)
      select c.id, c.account_id, c.interface, of_subject, of_subscription, of_key, new_data, (
        -- Not at the head of those that are due, as long as an earlier one holds it back.
        select greatest(now(), max(case
          when o.ended_at is null then least(o.next_attempt_at, now() + interval '4 hours')
          when o.is_sent and o.ended_at < now() + interval '1 minute' then o.ended_at + interval '1 hour'
        end))
        from {schema}.contact_mail o
        where o.contact_id = c.id and coalesce(o.subscription_id::text, o.key_id) = coalesce(of_subscription::text, of_key)
          and o.subject = of_subject
      )
      from {schema}.contact_email c
      where c.id = any (contacts) and c.id <> all (coalesce(merged, '{}'));
    end
    $$;

-- Begins an attempt to send the mail that is due for the longest time, and returns what it says. Its links have the new token with this
-- hash. An attempt that records no result, because its worker was killed, is repeated later. About one subscription or key, an address
-- gets a mail with the same subject once an hour, and hears of a disruption before its end.
create function take_contact_mail(new_token_hash bytea) returns table (id text, email text, subject text, data jsonb, interface text,
  organization_id text, account_name text, subscription_id text, subscription_name text, subscription_exists boolean, failed_delivery_id
  text, key_id text, key_name text, key_exists boolean)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      with due as (
        select m.id
        from {schema}.contact_mail m
        join {schema}.contact_email c on c.id = m.contact_id
        where m.ended_at is null
          -- It is rounded.
          and m.next_attempt_at <= now() + interval '1 ms'
          and m.created_at > now() - interval '3 days'
          and not exists (select from {schema}.account_away w where w.account_id = m.account_id)
          and (m.attempts > 0 or not exists (
            select
            from {schema}.contact_mail o
            where o.contact_id = m.contact_id
              and coalesce(o.subscription_id::text, o.key_id) = coalesce(m.subscription_id::text, m.key_id)
              and case when o.ended_at is null then
                o.id < m.id and o.created_at > now() - interval '3 days'
                  and (o.subject = m.subject or o.subject in ('DISRUPTED', 'RECOVERED') and m.subject in ('DISRUPTED', 'RECOVERED'))
              else
                -- The clock can have been set back since.
                o.is_sent and o.subject = m.subject and o.ended_at between now() - interval '1 hour' and now() + interval '1 minute'
              end
          ))
        order by m.next_attempt_at
        limit 1
        -- An update that deletes an address locks it before its mails. This waits for no lock.
        for update of m skip locked
        for key share of c skip locked
      ), taken as (
        update {schema}.contact_mail m
        set attempts = m.attempts + 1,
          -- Longer than an attempt can take.
          next_attempt_at = now() + (array[2, 5, 15, 30, 60, 120, 240])[least(m.attempts + 1, 7)] * interval '1 minute'
        from due
        where m.id = due.id
        returning m.*
      ), held_back as (
        update {schema}.contact_mail m
        set next_attempt_at = t.next_attempt_at
        from taken t
        where m.contact_id = t.contact_id and coalesce(m.subscription_id::text, m.key_id) = coalesce(t.subscription_id::text, t.key_id)
          and m.subject = t.subject and m.id <> t.id and m.ended_at is null and m.attempts = 0
      ), token as (
        insert into {schema}.contact_token (token_hash, contact_id, account_id, interface, subject, expires_at)
        select new_token_hash, t.contact_id, t.account_id, t.interface, nullif(t.subject, 'CONFIRMATION'),
          now() + case t.subject when 'CONFIRMATION' then interval '1 day' else interval '90 days' end
        from taken t
      )
      select t.id::text, c.email, t.subject, t.data, t.interface::text, a.organization_id::text, a.name, t.subscription_id::text, s.name,
        s.id is not null, r.last_failed_delivery_id::text, t.key_id, k.name, k.key_id is not null and k.revoked_at is null
      from taken t
      join {schema}.contact_email c on c.id = t.contact_id
      join {schema}.account a on a.id = t.account_id
      left join {schema}.webhook_subscription s on s.id = t.subscription_id and s.deleted_at is null
      left join {schema}.webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number and r.consecutive_failures > 0
      left join {schema}.api_key k on k.key_id = t.key_id
    $$;

-- Records the result of an attempt: SENT, BOUNCED if the server refuses the address for good, or DROPPED if there is nothing left to
-- tell. Returns whether the address gets no further mails, because of its fifth bounce in a row. Of an account that is away, it
-- records nothing: the attempt is repeated there.
create function end_contact_mail(of_mail bigint, result text) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      bounces_max constant int := 5;
      contact {schema}.contact_email;
    begin
      select c.* into contact
      from {schema}.contact_email c
      where c.id = (select m.contact_id from {schema}.contact_mail m where m.id = of_mail and m.ended_at is null)
        and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
      for no key update of c;
      if not found then
        return false;
      end if;
      update {schema}.contact_mail set ended_at = now(), is_sent = result = 'SENT' where id = of_mail and ended_at is null;
      if not found then
        return false;
      end if;
      if result = 'SENT' then
        -- The next one about the same waits for an hour.
        update {schema}.contact_mail m
        set next_attempt_at = now() + interval '1 hour'
        from {schema}.contact_mail o
        where o.id = of_mail and m.contact_id = o.contact_id and m.subject = o.subject
          and coalesce(m.subscription_id::text, m.key_id) = coalesce(o.subscription_id::text, o.key_id)
          and m.ended_at is null and m.attempts = 0;
        update {schema}.contact_email set bounces = 0 where id = contact.id and bounces > 0;
      elsif result = 'BOUNCED' and contact.stopped_at is null then
        update {schema}.contact_email
        set bounces = bounces + 1, stopped_at = case when bounces + 1 >= bounces_max then now() end
        where id = contact.id;
        if contact.bounces + 1 >= bounces_max then
          update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and ended_at is null;
          return true;
        end if;
      end if;
      return false;
    end
    $$;

-- Deletes up to `batch` each of addresses that were not confirmed within 7 days, counted confirmations after a day, tokens that have
-- expired, and mails after 3 days. Returns the largest number.
create function forget_contacts(batch int) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deleted bigint;
      most bigint;
    begin
      delete from {schema}.contact_email
      where id = any (array(
        select c.id
        from {schema}.contact_email c
        where c.confirmed_at is null and c.created_at < now() - interval '7 days'
          -- The last link works for as long as it says.
          and not exists (select from {schema}.contact_token t where t.contact_id = c.id and t.expires_at > now())
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by c.created_at
        limit batch
        for update of c skip locked
      ));
      get diagnostics most = row_count;
      delete from {schema}.contact_confirmation
      where id = any (array(
        select n.id
        from {schema}.contact_confirmation n
        where n.created_at < now() - interval '1 day'
          and not exists (select from {schema}.account_away w where w.account_id = n.account_id and w.is_frozen)
        order by n.created_at
        limit batch
        for update of n skip locked
      ));
      get diagnostics deleted = row_count;
      most := greatest(most, deleted);
      delete from {schema}.contact_token
      where token_hash = any (array(
        select t.token_hash
        from {schema}.contact_token t
        where t.expires_at < now()
          and not exists (select from {schema}.account_away w where w.account_id = t.account_id and w.is_frozen)
        order by t.expires_at
        limit batch
        for update of t skip locked
      ));
      get diagnostics deleted = row_count;
      most := greatest(most, deleted);
      delete from {schema}.contact_mail
      where id = any (array(
        select m.id
        from {schema}.contact_mail m
        where m.created_at < now() - interval '3 days'
          and not exists (select from {schema}.account_away w where w.account_id = m.account_id and w.is_frozen)
        order by m.created_at
        limit batch
        for update of m skip locked
      ));
      get diagnostics deleted = row_count;
      return greatest(most, deleted);
    end
    $$;

-- Deletes an address from the contact addresses of an account, and what counts its confirmations. Writes an entry of the audit log, for
-- which the transaction can set `deedwire.audit_claim` as for audit_change().
create function erase_contact_emails(of_email text, of_account bigint) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      contact {schema}.contact_email;
    begin
      perform {schema}.check_homes(array[of_account]);
      delete from {schema}.contact_email c
      where c.account_id = of_account and lower(c.email collate "C") = lower(of_email collate "C")
      returning c.* into contact;
      if found then
        perform {schema}.audit_contact(contact, 'contact_email.erase', '{}');
      end if;
      delete from {schema}.contact_confirmation n
      where n.account_id = of_account and n.address_hash = {schema}.contact_address_hash(of_email);
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- The processes of the apps, and what their clients use
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- What a build can do: the `dist/contracts.json` of an app, each file once.
create table app_contracts (
  -- SHA-256 of the file, in hexadecimal digits.
  digest text constraint app_contracts_digest_bounds check (digest ~ '^[0-9a-f]{64}$') primary key,
  app text not null constraint app_contracts_app_bounds check (octet_length(app) <= 40),
  contracts text not null constraint app_contracts_contracts_bounds check (octet_length(contracts) <= 2000000),
  stored_at timestamptz(3) not null default now()
);

-- The processes of all apps. `webhook_worker` is the fence of the workers. Of the operator's commands, one row for each build.
create table app_process (
  id uuid not null,
  app text not null constraint app_process_app_bounds check (octet_length(app) <= 40),
  version text not null constraint app_process_version_bounds check (octet_length(version) <= 100),
  -- Null: the contracts of the build are not known.
  digest text constraint app_process_digest_bounds check (digest ~ '^[0-9a-f]{64}$'),
  started_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  seen_since timestamptz(3) not null default now(),
  primary key (app, id)
) with (fillfactor = 50);

-- The sets of deprecated coordinates that processes count, each once: each period had a copy. At most 8 MB for an app.
create table counted_coordinates (
  id bigint generated always as identity primary key,
  -- As in `app_process`.
  app text not null constraint counted_coordinates_app_bounds check (octet_length(app) <= 40),
  -- SHA-256 of the coordinates.
  digest text not null constraint counted_coordinates_digest_bounds check (digest ~ '^[0-9a-f]{64}$'),
  coordinates text not null constraint counted_coordinates_coordinates_bounds check (octet_length(coordinates) <= 100000),
  unique (app, digest)
);

-- How often a client used a version of its interface on a day (UTC).
create table interface_use (
  api_client_id bigint not null,
  interface interface_name not null,
  day date not null,
  version text not null constraint interface_use_version_bounds check (octet_length(version) <= 20),
  -- A deprecated or preview coordinate of the SDL. Empty: the version itself.
  coordinate text not null constraint interface_use_coordinate_bounds check (octet_length(coordinate) <= 300),
  count bigint not null constraint interface_use_count_bounds check (count between 1 and '9000000000000000'),
  primary key (api_client_id, day, version, coordinate),
  foreign key (api_client_id, interface) references api_client (id, interface)
) with (fillfactor = 50);
-- Serves delete_old_use().
create index interface_use_by_day on interface_use (day);

-- From when to when a process has stored what it counted.
create table use_counting (
  id bigint generated always as identity primary key,
  -- As in `app_process`.
  app text not null constraint use_counting_app_bounds check (octet_length(app) <= 40),
  process_id uuid not null,
  -- The deprecated coordinates that the process counts, one a line: `2026-11-01 Query.old`.
  coordinates text not null constraint use_counting_coordinates_bounds check (octet_length(coordinates) <= 100000),
  counted_from timestamptz(3) not null,
  counted_until timestamptz(3) not null,
  -- When the counts until `counted_until` arrived.
  recorded_at timestamptz(3) not null,
  -- When the process was last known to run.
  seen_at timestamptz(3) not null,
  -- OPEN: the process counts, or was killed. LOST: counts after `counted_until`, until `seen_at`, may be lost. OVERFLOWED: counts of
  -- the period are lost.
  state text not null constraint use_counting_state_bounds check (state in ('OPEN', 'ENDED', 'LOST', 'OVERFLOWED')),
  coordinates_id bigint references counted_coordinates,
  check (counted_from <= counted_until)
) with (fillfactor = 50);
create unique index use_counting_open on use_counting (process_id, app) where (state = 'OPEN');
create index use_counting_by_app on use_counting (app, counted_until);
-- Serves delete_old_use().
create index use_counting_by_coordinates on use_counting (coordinates_id);

-- Registers a process, or that it still runs. Returns false if the contracts with the digest are not stored: then the process is
-- registered without them. A process beyond 1,000 of an app counts as one without contracts. So does one whose login is also that
-- of other apps: it cannot store contracts, and what it counts is a gap.
create function register_process(app text, id uuid, version text, digest text) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      is_known boolean := digest is null or exists (
        select from {schema}.app_contracts c where c.digest = register_process.digest and c.app = register_process.app
      );
      at constant timestamptz := clock_timestamp();
      row_id uuid := case when app = 'operator-cli' then md5(version || coalesce(digest, ''))::uuid else id end;
      further constant uuid := md5(app)::uuid;
    begin
      begin
        perform {schema}.check_app_of_session(app);
      exception when insufficient_privilege then
        if app <> all ({schema}.apps_of_session()) then
          raise;
        end if;
        is_known := false;
        digest := null;
      end;
      delete from {schema}.app_process p where p.app = register_process.app and p.last_seen_at < at - interval '1 day';
      if not exists (select from {schema}.app_process p where p.app = register_process.app and p.id = row_id)
        and (select count(*) >= 1000 from {schema}.app_process p where p.app = register_process.app) then
        row_id := further;
      end if;
      if row_id = further then
        digest := null;
      end if;
      insert into {schema}.app_process as p (id, app, version, digest, started_at, last_seen_at, seen_since)
      values (row_id, app, version, case when is_known then digest end, at, at, at)
      on conflict on constraint app_process_pkey do update
      set version = excluded.version, digest = excluded.digest, last_seen_at = at,
        seen_since = case when at - p.last_seen_at between '-1 second' and '90 seconds' then p.seen_since else at end;
      if app like '%-api' then
        update {schema}.use_counting c set seen_at = at
        where c.process_id = register_process.id and c.app = register_process.app and c.state = 'OPEN';
        if not found then
          perform {schema}.begin_counting(app, id, '', at);
        end if;
      end if;
      return is_known;
    end
    $$;

-- Of the contracts of an app, 20 are kept at most. Those that no process has are deleted.
create function store_app_contracts(app text, contracts text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      perform {schema}.check_app_of_session(app);
      if contracts::jsonb ->> 'app' is distinct from app then
        raise exception 'The contracts are not those of %.', app using errcode = 'invalid_parameter_value';
      end if;
      delete from {schema}.app_contracts c
      where c.app = store_app_contracts.app and c.stored_at < now() - interval '1 hour'
        and not exists (select from {schema}.app_process p where p.digest = c.digest);
      if (select count(*) >= 20 from {schema}.app_contracts c where c.app = store_app_contracts.app) then
        raise exception 'The processes of % have too many builds.', app using errcode = 'program_limit_exceeded';
      end if;
      insert into {schema}.app_contracts (digest, app, contracts)
      values (encode(sha256(convert_to(contracts, 'UTF8')), 'hex'), app, contracts)
      on conflict do nothing;
    end
    $$;

create function end_process(app text, id uuid) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      perform {schema}.check_app_of_session(app);
      delete from {schema}.app_process p
      -- Not the row of the processes beyond 1,000.
      where p.id = end_process.id and p.app = end_process.app and p.id <> md5(p.app)::uuid;
    end
    $$;

-- As much as an export needs for it.
create function size_of_coordinates(coordinates text) returns bigint
language sql immutable
return octet_length(to_json(coordinates)::text) + 100;

-- Returns the id of a set, which it stores once. Null if the app would have more than 8 MB.
create function keep_coordinates(app text, coordinates text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      known constant text := encode(sha256(convert_to(coordinates, 'UTF8')), 'hex');
      none constant text := encode(sha256(''), 'hex');
      found_id bigint;
    begin
      select c.id into found_id from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = known;
      if found then
        return found_id;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'A set of coordinates is stored in a transaction with the isolation level read committed only.'
          using hint = 'In others, it would not see what others have stored.';
      end if;
      -- No login can lock this row in another way.
      insert into {schema}.counted_coordinates (app, digest, coordinates) values (app, none, '') on conflict do nothing;
      perform from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = none for no key update;
      insert into {schema}.counted_coordinates as c (app, digest, coordinates)
      select keep_coordinates.app, known, keep_coordinates.coordinates
      where (
        select sum({schema}.size_of_coordinates(c.coordinates)) + {schema}.size_of_coordinates(keep_coordinates.coordinates) <= 8000000
        from {schema}.counted_coordinates c
        where c.app = keep_coordinates.app
      )
      on conflict do nothing;
      select c.id into found_id from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = known;
      return found_id;
    end
    $$;

-- Of the periods of an app, 20,000 are kept. Without the older ones, nothing counts as counted before their end.
create function begin_counting(app text, process_id uuid, coordinates text, at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      cut timestamptz;
    begin
      select c.counted_until into cut
      from {schema}.use_counting c
      where c.app = begin_counting.app
      order by c.counted_until desc
      offset 20000 limit 1;
      if found then
        -- What was lost until `seen_at` stays known.
        delete from {schema}.use_counting c where c.app = begin_counting.app and greatest(c.counted_until, c.seen_at) <= cut;
        update {schema}.use_counting c set counted_from = cut, counted_until = greatest(c.counted_until, cut)
        where c.app = begin_counting.app and c.counted_from < cut;
      end if;
      insert into {schema}.use_counting (app, process_id, coordinates, coordinates_id, counted_from, counted_until, recorded_at, seen_at, state)
      values (app, process_id, '', {schema}.keep_coordinates(app, coordinates), at, at, at, at, 'OPEN');
    end
    $$;

-- Adds what a process has counted in `counted_ms` milliseconds since the last call of it returned. The period continues only if
-- this is the time that has passed here: otherwise a clock was set, or the process did not run. Null: earlier counts may be lost.
-- No counts and no period can be taken back.
create function record_use(app text, process_id uuid, counted_ms double precision, overflowed boolean, ended boolean, counted text,
  clients text[], versions text[], coordinates text[], counts bigint[]) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    declare
      at constant timestamptz(3) := clock_timestamp();
      period record;
      new_until timestamptz(3);
    begin
      perform {schema}.check_app_of_session(app);
      if app not like '%-api' or cardinality(clients) > 10000 then
        raise exception '% cannot record this use.', app using errcode = 'invalid_parameter_value';
      end if;
      insert into {schema}.interface_use as u (api_client_id, interface, day, version, coordinate, count)
      select c.id, c.interface, at::date, n.version, n.coordinate, least(sum(n.count), 1000000000000)
      from unnest(clients, versions, coordinates, counts) as n (client_id, version, coordinate, count)
      join {schema}.api_client c on c.client_id = n.client_id and c.interface::text || '-api' = app
      where n.count > 0
      group by c.id, c.interface, n.version, n.coordinate
      -- The order in which all processes lock the rows.
      order by c.id, n.version, n.coordinate
      on conflict on constraint interface_use_pkey do update
      set count = least(u.count + excluded.count, 9000000000000000);
      if exists (
        select from {schema}.interface_use u
        where u.day = at::date and u.api_client_id in (select id from {schema}.api_client where client_id = any (clients) and interface::text || '-api' = app)
        group by u.api_client_id having count(*) > 5000
      ) then
        raise exception 'A client of % uses too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;
      if cardinality(clients) > 0 and (
        select count(*) > 100000 from {schema}.interface_use u where u.day = at::date and u.interface::text || '-api' = app
      ) then
        raise exception 'The clients of % use too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;

      select * into period
      from {schema}.use_counting c
      where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN'
      for update;
      if not found then
        perform {schema}.begin_counting(app, process_id, counted, at);
        select * into period
        from {schema}.use_counting c
        where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN';
      else
        new_until := period.recorded_at + make_interval(secs => counted_ms / 1000);
        if coalesce(counted_ms >= 0 and at - new_until between '-1 second' and '30 seconds', false)
          -- An API of the last release runs, which does not count.
          and not exists (
            select from pg_stat_activity s
            where s.datname = current_database() and s.application_name = 'deedwire-' || app || '-costs'
              and pg_has_role(s.usesysid, {schema}.role_of_app(app), 'member')
          ) then
          new_until := least(new_until, at);
          if overflowed then
            update {schema}.use_counting c set state = 'ENDED' where c.id = period.id;
            insert into {schema}.use_counting (app, process_id, coordinates, coordinates_id, counted_from, counted_until, recorded_at, seen_at, state)
            values (app, process_id, '', {schema}.keep_coordinates(app, ''), period.counted_until, greatest(new_until, period.counted_until), at, at, 'OVERFLOWED');
            perform {schema}.begin_counting(app, process_id, counted, greatest(new_until, period.counted_until));
          else
            update {schema}.use_counting c set counted_until = greatest(new_until, c.counted_until) where c.id = period.id;
          end if;
        else
          -- A clock that was set back leaves a gap, too.
          update {schema}.use_counting c
          set state = 'LOST', counted_from = least(c.counted_from, at), counted_until = least(c.counted_until, at),
            seen_at = greatest(at, c.counted_until)
          where c.id = period.id;
          perform {schema}.begin_counting(app, process_id, counted, at);
        end if;
      end if;
      update {schema}.use_counting c
      set recorded_at = at, seen_at = greatest(at, c.seen_at), state = case when ended then 'ENDED' else 'OPEN' end
      where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN';
    end
    $$;

-- Deletes up to `batch` counts that are older than 400 days, with the periods of that time and their coordinates, and returns the
-- number of counts.
create function delete_old_use(batch int) returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      delete from {schema}.use_counting where counted_until < now() - interval '400 days';
      delete from {schema}.counted_coordinates c
      where c.id in (
        select o.id
        from {schema}.counted_coordinates o
        where not exists (select from {schema}.use_counting u where u.coordinates_id = o.id)
        limit batch
        -- Not one that a period begins to use at this moment.
        for update skip locked
      );
      with old as (
        select api_client_id, day, version, coordinate
        from {schema}.interface_use
        where day < (now() at time zone 'UTC')::date - 400
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.interface_use u using old o
        where (u.api_client_id, u.day, u.version, u.coordinate) = (o.api_client_id, o.day, o.version, o.coordinate)
        returning 1
      )
      select count(*) from deleted
    $$;

-- The event types that a build of the worker renders. None if its contracts cannot be read, or are longer than those of any build:
-- each check of an app reads those of all builds.
create function rendered_event_types(contracts text) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    begin
      return array(
        select split_part(event #>> '{}', '@', 1)
        from jsonb_path_query(case when octet_length(contracts) <= 100000 then contracts::jsonb end, 'lax $.renders[*].event', '{}', true)
          as event
      );
    exception when others then
      return '{}';
    end
    $$;

-- The builds of running workers that do not render all of these event types, and the types that they lack. `is_known`: a running
-- worker renders one of the types, or its contracts are not known. No rows while no worker has a lease.
create function webhook_workers_lacking(event_types text[]) returns table (version text, digest text, lacking text[], is_known boolean)
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      with running as (
        select distinct p.version, p.digest
        from {schema}.app_process p
        where p.app = 'webhook-worker' and p.last_seen_at > clock_timestamp() - interval '150 seconds'
          and exists (select from {schema}.webhook_worker w where w.alive and w.leased_until > clock_timestamp())
      ), builds as materialized (
        select c.digest, array(
          select type from unnest(event_types) as type where type <> all (rendered) order by type
        ) as lacking
        from {schema}.app_contracts c
        cross join lateral {schema}.rendered_event_types(c.contracts) as rendered
        where c.digest in (select r.digest from running r)
      )
      select r.version, r.digest, b.lacking,
        exists (
          select
          from running other left join builds of_other using (digest)
          where of_other.lacking is null or cardinality(of_other.lacking) < cardinality(event_types)
        )
      from running r join builds b using (digest)
      where cardinality(b.lacking) > 0
      order by r.version, r.digest
    $$;

-- For apps of earlier releases: the versions for which an interface waits.
create function webhook_workers_without(event_types text[]) returns table (version text)
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select distinct w.version from {schema}.webhook_workers_lacking(event_types) w where not w.is_known order by w.version
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Tables of the application
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- An expression for the account of a row of a table that own_table() has registered. Null for another table.
create function account_of_own(of_table text, row_name text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      own {schema}.own_table;
    begin
      select * into own from {schema}.own_table o where o.relation = of_table;
      if own.parent is null then
        return row_name || '.' || quote_ident(own.column_name);
      end if;
      return format('(select %s from {schema}.%I %s where %3$s.id = %4$s.%5$I)',
        {schema}.account_of_own(own.parent, row_name || 'p'), own.parent, row_name || 'p', row_name, own.column_name);
    end
    $$;

-- Lets check_home() see what is written to a table that own_table() has registered.
create function guard_own_table(of_table text) returns void
language plpgsql
set search_path = {schema}, pg_temp
set client_min_messages = warning
as $$
    declare
      guard record;
    begin
      for guard in
        select g.name, g.events, case when o.parent is null then o.column_name else '' end as leads
        from own_table o, (values ('check_home', 'insert or update'), ('check_home_of_deleted', 'delete')) as g (name, events)
        where o.relation = of_table
      loop
        execute format('create or replace trigger %I before %s on %I
          for each row when (current_setting(''deedwire.homes'', true) is distinct from ''*'') execute function check_home(%L, %L)',
          guard.name, guard.events, of_table, guard.leads, of_table);
      end loop;
    end
    $$;

-- Makes the rows of a table those of accounts of an interface: foreign key, row-level security, exactly these grants to its role, and the
-- check of the account's home. Registers it for what deletes the rows of other cells, and for sequences. The table has an `id` that
-- new_record_id() draws, and `account_id` and `interface`, or a column that leads to a registered table: by its foreign key, or as
-- `<table>_id`. Only the owner can call it, also again, and after the table was renamed.
create function own_table(relation text, interface interface_name, grants text, parent_column text default null::text) returns void
language plpgsql
set search_path = {schema}, pg_temp
set client_min_messages = warning
as $$
    declare
      own_role constant text := role_of_interface(interface);
      own pg_class;
      kind text;
      owner oid;
      key_name text;
      known own_table;
      -- The name of the registration of a table that was renamed.
      former text;
      parent_table text;
      -- The columns of the foreign key.
      key smallint[];
      needed record;
      other record;
      app record;
    begin
      select c.* into own from pg_class c where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relname = own_table.relation;
      if not found then
        raise exception 'There is no table % in the schema %.', relation, {schema_text};
      end if;
      kind := case
        when own.relkind = 'p' then 'is partitioned'
        when own.relispartition then 'is a partition'
        when own.relkind <> 'r' then 'is no table'
        when exists (select from pg_inherits where own.oid in (inhparent, inhrelid)) then 'inherits, or is inherited from'
      end;
      if kind is not null then
        raise exception 'own_table() takes an ordinary table, and % %. Create one, and move the rows.', relation, kind;
      end if;
      if exists (select from shared_policy s where s.relation = own_table.relation) then
        raise exception 'The table % is one of the platform. Create another one.', relation;
      end if;
      if relation ~ '_\d{8}$' then
        raise exception 'The name of the table % ends with 8 digits, like that of a partition of a day, which is dropped. Rename it.', relation;
      end if;
      owner := (select c.relowner from pg_class c where c.oid = '{schema}.own_table'::regclass);
      if own.relowner <> owner then
        raise exception 'The table % has another owner than the tables of the platform; run: alter table % owner to %',
          relation, own.oid::regclass, owner::regrole;
      end if;
      if not exists (select from interface i where i.name = own_table.interface) then
        raise exception 'The table % needs the interface %; call add_interface() first.', relation, interface;
      end if;
      if grants is null or grants !~* '^(\s*(select|insert|update|delete)\s*(\([^()]+\)\s*)?(,(?=\s*\w)|$))*$' then
        raise exception 'The grants on the table % are "%", but must be some of select, insert, update and delete, or empty.', relation, grants;
      end if;

      select c.conname into key_name
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum] and a.attname = 'id' and a.atttypid = 'bigint'::regtype
      join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where c.conrelid = own.oid and c.contype = 'p' and pg_get_expr(d.adbin, d.adrelid) = 'new_record_id()';
      if key_name is null then
        raise exception 'The table % needs the primary key: id bigint primary key default new_record_id().', relation;
      end if;
      if key_name <> relation || '_pkey' then
        raise exception 'The primary key of the table % has the name %; run: alter table % rename constraint % to %',
          relation, key_name, own.oid::regclass, quote_ident(key_name), quote_ident(relation || '_pkey');
      end if;

      for needed in
        select n.name, n.type, case when a.attname is not null then concat_ws(' ', format_type(a.atttypid, a.atttypmod),
          case when a.attnotnull then 'not null' end, case when a.attgenerated <> '' then 'generated' end) end as found
        from (
          select 'account_id' as name, 'bigint' as type where parent_column is null
          union all
          select 'interface', 'interface_name' where parent_column is null
          union all
          select parent_column, 'bigint' where parent_column is not null
        ) n
        left join pg_attribute a on a.attrelid = own.oid and a.attname = n.name and a.attnum > 0 and not a.attisdropped
      loop
        if needed.found is distinct from needed.type || ' not null' then
          raise exception 'The table % needs the column: % % not null. It has %.', relation, needed.name, needed.type,
            coalesce(quote_ident(needed.name) || ' ' || needed.found, 'none of this name');
        end if;
      end loop;
      key := array(
        select a.attnum
        from pg_attribute a
        where a.attrelid = own.oid and not a.attisdropped
          and a.attname = any (case when parent_column is null then '{account_id,interface}' else array[parent_column] end)
        order by a.attname
      );

      if parent_column is not null then
        -- By the foreign key first.
        select o.relation into parent_table
        from own_table o
        where o.of_interface = own_table.interface and to_regclass(quote_ident(o.relation)) is not null and (
          o.relation = regexp_replace(parent_column, '_id$', '') or exists (
            select
            from pg_constraint c
            where c.conrelid = own.oid and c.contype = 'f' and c.conkey = key and c.confrelid = to_regclass(quote_ident(o.relation))
          )
        )
        order by o.relation = regexp_replace(parent_column, '_id$', '')
        limit 1;
        if parent_table is null then
          raise exception 'The column % of the table % does not lead to a table that own_table() has registered for the interface %.',
            parent_column, relation, interface;
        end if;
        if exists (
          with recursive up as (
            select o.relation, o.parent from own_table o where o.relation = parent_table
            union
            select o.relation, o.parent from up join own_table o on o.relation = up.parent
          )
          select from up where up.relation = own_table.relation
        ) then
          raise exception 'The column % of the table % leads to this table itself. Name a column that leads to its parent, or none.',
            parent_column, relation;
        end if;
      end if;

      select o.relation into former
      from own_table o
      join pg_trigger t on t.tgrelid = own.oid and t.tgname = 'check_home'
        and t.tgargs = convert_to(case when o.parent is null then o.column_name else '' end, 'UTF8') || '\x00'
          || convert_to(o.relation, 'UTF8') || '\x00'
      where o.relation <> own_table.relation and to_regclass(quote_ident(o.relation)) is null;
      -- What is registered of a table that was dropped does not count.
      select o.* into known
      from own_table o
      where o.relation = coalesce(former, own_table.relation)
        and exists (select from pg_trigger t where t.tgrelid = own.oid and t.tgname = 'check_home');
      if known.of_interface <> interface then
        raise exception 'The table % is one of the interface %, and stays it. Create another one for %.', relation, known.of_interface, interface;
      end if;
      select o.relation, o.of_interface into other
      from own_table o
      where o.parent = own_table.relation and o.of_interface <> own_table.interface and to_regclass(quote_ident(o.relation)) is not null;
      if found then
        raise exception 'The table %, which leads to %, is one of the interface %. Drop it first.', other.relation, relation, other.of_interface;
      end if;
      select e.type, e.interfaces into other
      from person_table p
      join event_type e on e.record_type = p.record_type and e.persons <> '{}' and e.interfaces <> '{}'
      where p.relation = own_table.relation and own_table.interface <> all (e.interfaces)
      order by e.type
      limit 1;
      if found then
        raise exception 'The table % has the persons of the event %, which is one of %, and not of %. Register it for that interface.',
          relation, other.type, array_to_string(other.interfaces, ', '), interface;
      end if;

      if not exists (
        select
        from pg_constraint c
        where c.conrelid = own.oid and c.contype = 'f' and c.conkey = key and c.convalidated and not c.condeferrable
          and c.confrelid = quote_ident(coalesce(parent_table, 'account'))::regclass
          and c.confkey = array(
            select a.attnum
            from pg_attribute a
            where a.attrelid = c.confrelid and a.attname = any (case when parent_table is null then '{id,interface}' else '{id}'::name[] end)
            order by a.attname
          )
      ) then
        if parent_table is null then
          execute format('alter table %I add foreign key (account_id, interface) references account (id, interface)', relation);
        else
          execute format('alter table %I add foreign key (%I) references %I (id)', relation, parent_column, parent_table);
        end if;
      end if;
      if parent_table is null and not exists (
        select
        from pg_constraint c
        where c.conrelid = own.oid and c.contype = 'c'
          and pg_get_constraintdef(c.oid) = format('CHECK ((interface = %L::interface_name))', interface)
      ) then
        execute format('alter table %I add check (interface = %L)', relation, interface);
      end if;

      insert into own_table as o values (relation, interface, parent_table, coalesce(parent_column, 'account_id'))
      on conflict on constraint own_table_pkey do update
      set of_interface = excluded.of_interface, parent = excluded.parent, column_name = excluded.column_name;
      if former is not null then
        update own_table o set parent = own_table.relation where o.parent = former;
        update own_sequence s set relation = own_table.relation where s.relation = former;
        delete from own_table o where o.relation = former;
      end if;

      -- A child has the interface of its parent.
      for app in
        select r.role, case when r.role = own_role and parent_table is null then format('interface = %L', interface) else 'true' end as rows
        from (values (own_role, interface::text || '-api'), (role_name('operator-cli'), 'operator-cli')) as r (role, name)
        where has_role(r.name)
      loop
        execute format('drop policy if exists %I on %I', app.role, relation);
        execute format('create policy %1$I on %2$I to %1$I using (%3$s)', app.role, relation, app.rows);
      end loop;
      if has_role(interface::text || '-api') then
        execute format('revoke all on %I from %I', relation, own_role);
        if grants ~ '\w' then
          execute format('grant %s on %I to %I', grants, relation, own_role);
        end if;
      end if;
      execute format('alter table %I enable row level security', relation);
      perform guard_own_table(relation);
    end
    $$;

-- Registers a sequence whose numbers are at the end of a column of a table that own_table() has registered: after a restore, it
-- continues after them. Lets operators draw numbers that a restore has lost.
create function own_sequence(sequence text, relation text, column_name text) returns void
language plpgsql
set search_path = {schema}, pg_temp
as $$
    declare
      column_type text;
    begin
      if not exists (
        select
        from pg_class c
        where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relname = own_sequence.sequence and c.relkind = 'S'
      ) then
        raise exception 'There is no sequence % in the schema %.', sequence, {schema_text};
      end if;
      if exists (select from shared_right r where r.words like '% on sequence ' || own_sequence.sequence) then
        raise exception 'The sequence % is one of the platform. Create another one.', sequence;
      end if;
      if not exists (
        select from own_table o where o.relation = own_sequence.relation and to_regclass(quote_ident(o.relation)) is not null
      ) then
        raise exception 'own_table() has not registered the table %, which the sequence % is for; call it first.', relation, sequence;
      end if;
      select format_type(a.atttypid, a.atttypmod) into column_type
      from pg_attribute a
      where a.attrelid = quote_ident(relation)::regclass and a.attname = own_sequence.column_name and a.attnum > 0 and not a.attisdropped;
      if not found then
        raise exception 'The table % has no column %, which the sequence % is for.', relation, column_name, sequence;
      end if;
      if column_type !~ '^(smallint|integer|bigint)$' and not exists (
        select from pg_type t where t.oid = column_type::regtype and t.typcategory = 'S'
      ) then
        raise exception 'The column % of the table % has the type %. A column of the sequence % is a text that ends with the number, or an integer.',
          column_name, relation, column_type, sequence;
      end if;
      insert into own_sequence values (sequence, relation, column_name)
      on conflict on constraint own_sequence_pkey do update set relation = excluded.relation, column_name = excluded.column_name;
      if has_role('operator-cli') then
        execute format('grant usage on sequence %I to %I', sequence, role_name('operator-cli'));
      end if;
    end
    $$;

create function own_sequence_states() returns table (sequence text, last_number bigint, highest_used bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      own {schema}.own_sequence;
    begin
      for own in
        select o.*
        from {schema}.own_sequence o
        join pg_attribute a on a.attrelid = to_regclass(format('%I.%I', {schema_text}, o.relation)) and a.attname = o.column_name
          and not a.attisdropped
        where to_regclass(format('%I.%I', {schema_text}, o.sequence)) is not null
      loop
        return query execute format(
          $query$
            select %L, s.last_value - (not s.is_called)::int, coalesce((
              select max(substring(newest.used::text from '(?:^|\D)(\d{1,15})$')::bigint)
              from (select %I as used from {schema}.%I order by id desc limit 1000) newest
            ), 0)
            from {schema}.%I s
          $query$, own.sequence, own.column_name, own.relation, own.sequence);
      end loop;
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Functions for applications
-- -----------------------------------------------------------------------------------------------------------------------------------------

create table application_function (
  -- As GRANT takes it, for example `append_event(text, text)`.
  signature text primary key
);

-- The role of the logins of applications. Null where the names of roles have no prefix.
create function application_role() returns text
language sql stable
return nullif({schema}.role_name('application'), 'application');

-- Makes a function one for applications: add_application_role() grants it. Only the owner can call it, also again.
create function for_applications(of_function regprocedure) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
    declare
      own pg_proc;
    begin
      select p.* into own from pg_proc p where p.oid = of_function;
      if own.pronamespace <> quote_ident({schema_text})::regnamespace or not own.prosecdef
        or own.proconfig @> array['search_path=pg_catalog, pg_temp'] is not true then
        raise exception 'The function % is not one of the schema % with `security definer` and `set search_path = pg_catalog, pg_temp`.',
          of_function, {schema_text};
      end if;
      execute format('revoke execute on routine %s from public', of_function);
      insert into {schema}.application_function
      values (format('%I(%s)', own.proname, oidvectortypes(own.proargtypes)))
      on conflict do nothing;
    end
    $$;

-- Creates the role of applications, and grants it the functions that are made for them. Does nothing where the names of roles have no
-- prefix, or the owner may not create a role. Only the owner can call it, also again.
create function add_application_role() returns void
language plpgsql
set search_path = {schema}, pg_temp
as $$
    declare
      own_role constant text := application_role();
      found_role pg_roles;
      own record;
    begin
      if own_role is null then
        return;
      end if;
      -- Roles belong to the whole cluster: the migration of another database may create it at this moment.
      if to_regrole(quote_ident(own_role)) is null then
        begin
          execute format('create role %I nologin', own_role);
        exception
          when duplicate_object or unique_violation then
            null;
          when insufficient_privilege then
            return;
        end;
      end if;
      select r.* into found_role from pg_roles r where r.rolname = own_role;
      if found_role.rolcanlogin or found_role.rolsuper or found_role.rolbypassrls or found_role.rolcreaterole then
        raise exception 'The role % exists and is no group role of applications: it can log in, or has a right that no application needs. Rename it, or run: alter role %I nologin nosuperuser nobypassrls nocreaterole',
          own_role, own_role;
      end if;
      execute format('grant usage on schema %I to %I', current_schema(), own_role);
      for own in
        select a.signature from application_function a where to_regprocedure(a.signature) is not null order by a.signature
      loop
        execute format('grant execute on routine %s to %I', own.signature, own_role);
      end loop;
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Erasing persons
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- The records whose person is being erased. A row is deleted when nothing is left to erase, so an interrupted command finds it.
create table person_erasure (
  record_type text not null,
  record_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  started_at timestamptz(3) not null default now(),
  primary key (record_type, record_id),
  foreign key (account_id, interface) references account (id, interface)
);
create index person_erasure_by_account on person_erasure (account_id);

-- Whether columns can have these values: by their types, and by the check constraints over no other column.
create function are_valid(of_table oid, columns smallint[], new_values text[]) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
    declare
      values_of_row text;
      conditions text;
      is_valid boolean;
    begin
      -- A longer text than the type allows is cut.
      select string_agg(format('%L::%s as %I', n.value, format_type(a.atttypid, a.atttypmod), a.attname), ', '),
        string_agg(case when n.value is null then format('%I is null', a.attname) else format('%I = %L::text', a.attname, n.value) end, ' and ')
      into values_of_row, conditions
      from unnest(columns, new_values) as n (number, value)
      join pg_attribute a on a.attrelid = of_table and a.attnum = n.number;
      select concat(conditions, string_agg(format(' and coalesce((%s), true)', pg_get_expr(c.conbin, c.conrelid)), ''))
      into conditions
      from pg_constraint c
      where c.conrelid = of_table and c.contype = 'c' and c.conkey <@ columns;
      execute format('select %s from (select %s) t', conditions, values_of_row) into is_valid;
      return is_valid;
    exception
      -- The caller may not call a function of a constraint, or a migration has locked the table, which pg_get_expr() opens.
      when insufficient_privilege or lock_not_available then
        return true;
      when others then
        return false;
    end
    $$;

-- The columns of a table that an erasure can replace, and what replaces each in a row `t`: null or, where null is not allowed, a text
-- that no other record has. The only rule of placeholders. Without columns that do not exist, and if the table does not have the owner
-- of the registry.
create function placeholders_of(of_table text, columns text[], addresses text[]) returns table (column_name text, is_address boolean,
  replacement text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      own constant oid := (
        select c.oid
        from pg_class c
        where c.oid = to_regclass(format('%I.%I', {schema_text}, of_table)) and c.relkind = 'r'
          and c.relowner = (select r.relowner from pg_class r where r.oid = '{schema}.person_table'::regclass)
      );
      one record;
      longest text;
      numbers smallint[] := '{}';
      examples text[] := '{}';
      refused smallint[] := '{}';
    begin
      for one in
        select a.attnum, a.attname = any (addresses) as is_address,
          not a.attnotnull and not exists (
            select from pg_index i where i.indrelid = own and i.indnullsnotdistinct and a.attnum = any (i.indkey)
          ) as is_nullable,
          t.typcategory = 'S' and not exists (
            select from pg_constraint f where f.conrelid = own and f.contype = 'f' and a.attnum = any (f.conkey)
          ) as is_text
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        where a.attrelid = own and a.attname = any (columns) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          and not exists (
            select from pg_constraint f where f.confrelid = own and f.contype = 'f' and a.attnum = any (f.confkey) and f.confupdtype <> 'c'
          )
        order by a.attnum
      loop
        longest := concat('erased-', 9223372036854775807, case when one.is_address then '@erased.invalid' end);
        if one.is_nullable and {schema}.are_valid(own, array[one.attnum], array[null]) then
          longest := null;
        elsif not one.is_text or not {schema}.are_valid(own, array[one.attnum], array[longest]) then
          continue;
        end if;
        numbers := array_append(numbers, one.attnum);
        examples := array_append(examples, longest);
      end loop;
      for one in
        select c.conkey, array(select examples[array_position(numbers, k.number)] from unnest(c.conkey) as k (number)) as new_values
        from pg_constraint c
        where c.conrelid = own and c.contype = 'c' and cardinality(c.conkey) > 1 and c.conkey <@ numbers
      loop
        if not {schema}.are_valid(own, one.conkey, one.new_values) then
          refused := refused || one.conkey;
        end if;
      end loop;
      return query
        select a.attname::text, a.attname = any (addresses), case
          when n.example is not null
          then format('concat(''erased-'', t.id%s)', case when a.attname = any (addresses) then ', ''@erased.invalid''' end)
        end
        from unnest(numbers, examples) as n (number, example)
        join pg_attribute a on a.attrelid = own and a.attnum = n.number
        where n.number <> all (refused);
    end
    $$;

-- The columns that identify, of tables that exist and have the owner of the registry, and what replaces each in a row `t`: null or, where
-- null is not allowed, a text that no other record has. The only rule of placeholders.
create function person_columns(of_record_type text) returns table (relation text, column_name text, is_address boolean, replacement
  text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select p.relation, c.column_name, c.is_address, c.replacement
      from {schema}.person_table p
      join {schema}.own_table o on o.relation = p.relation
      cross join {schema}.placeholders_of(p.relation, p.columns, p.addresses) c
      where p.record_type = of_record_type
    $$;

-- The row of a record: its table, its account, and whether it is erased. No row if there is none.
create function find_person(of_record_type text, of_record_id bigint) returns table (relation text, account_id bigint, is_erased
  boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      own record;
    begin
      for own in
        select c.relation, string_agg(
          case when c.replacement is null then format('t.%I is null', c.column_name) else format('t.%I = %s', c.column_name, c.replacement) end,
          ' and '
        ) as is_erased
        from {schema}.person_columns(of_record_type) c
        group by c.relation
        order by c.relation
      loop
        return query execute format('select %L, %s, %s from {schema}.%I t where t.id = $1',
          own.relation, {schema}.account_of_own(own.relation, 't'), own.is_erased, own.relation) using of_record_id;
        exit when found;
      end loop;
    end
    $$;

-- The saved results that contain a record of a person. Reads the keys of the account, which are deleted after a day.
create function person_results(of_record_type text, of_record_id bigint) returns setof idempotency_key
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select k.*
      from {schema}.find_person(of_record_type, of_record_id) r
      join {schema}.idempotency_key k on k.account_id = r.account_id
      where strpos(k.payload::text, format('/%s/%s"', of_record_type, of_record_id)) > 0
    $$;

-- The row of a record: its account, whether it is erased, and how many saved results contain it. Null if there is none.
create function person_row(of_record_type text, of_record_id bigint) returns jsonb
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select jsonb_build_object(
        'table', r.relation, 'accountId', r.account_id::text, 'isErased', r.is_erased,
        'savedResults', (select count(*) from {schema}.person_results(of_record_type, of_record_id))
      )
      from {schema}.find_person(of_record_type, of_record_id) r
    $$;

-- The accounts of the records that exist.
create function person_accounts(of_record_type text, of_record_ids bigint[]) returns jsonb
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      rows text;
      accounts jsonb;
    begin
      select string_agg(format('select t.id, %s as account_id from {schema}.%I t where t.id = any ($1)',
        {schema}.account_of_own(c.relation, 't'), c.relation), ' union all ')
      into rows
      from (select distinct relation from {schema}.person_columns(of_record_type)) c;
      if rows is not null then
        execute format('select jsonb_agg(jsonb_build_object(''id'', id::text, ''accountId'', account_id::text)) from (%s) r', rows)
        into accounts
        using of_record_ids;
      end if;
      return coalesce(accounts, '[]');
    end
    $$;

-- The addresses of the next 5,000 records of a type, in the order of their ids, and the last id, or null if there are no further
-- ones. PostgreSQL would compare addresses by the rules of its locale.
create function person_addresses(of_record_type text, after bigint) returns jsonb
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      part_max constant int := 5000;
      rows text;
      part jsonb;
    begin
      select string_agg(format('(select t.id, %s as account_id, %s as addresses from {schema}.%I t where t.id > $2 order by t.id limit $3)',
        {schema}.account_of_own(c.relation, 't'), c.addresses, c.relation), ' union all ')
      into rows
      from (
        select relation, format('array[%s]::text[]', string_agg(format('t.%I', column_name), ', ') filter (where is_address)) as addresses
        from {schema}.person_columns(of_record_type)
        group by relation
      ) c;
      if rows is null then
        return '{"readTo": null, "rows": []}';
      end if;
      execute format($query$
        with part as materialized (select * from (%s) r order by id limit $3)
        select jsonb_build_object(
          'readTo', (select case when count(*) = $3 then max(id)::text end from part),
          'rows', coalesce(
            jsonb_agg(jsonb_build_object('type', $1, 'id', id::text, 'accountId', account_id::text, 'address', address)
              order by id) filter (where address is not null),
            '[]'
          )
        )
        from part left join unnest(addresses) as a (address) on true
      $query$, rows) into part using of_record_type, after, part_max;
      return part;
    end
    $$;

-- The addresses in a column of a table, in the order of accounts and ids. Read from indexes that begin with the columns that lead to the
-- account.
create function person_addresses_by_account(of_table text, of_column text, after_account bigint, after_id bigint, row_limit int) returns
  table (id bigint, account_id bigint, address text)
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
    declare
      own {schema}.own_table;
      row_name text := 't';
      joined text := '';
    begin
      if not exists (
        select
        from {schema}.person_table p
        cross join {schema}.person_columns(p.record_type) c
        where p.relation = of_table and c.relation = of_table and c.column_name = of_column and c.is_address
      ) then
        return;
      end if;
      loop
        select o.* into own from {schema}.own_table o where o.relation = coalesce(own.parent, of_table);
        exit when own.parent is null;
        joined := joined || format(' join {schema}.%1$I %2$sp on %2$sp.id = %2$s.%3$I', own.parent, row_name, own.column_name);
        row_name := row_name || 'p';
      end loop;
      return query execute format(
        'select t.id, %1$s.account_id, t.%2$I::text from {schema}.%3$I t%4$s
         where %1$s.account_id >= $1 and (%1$s.account_id, t.id) > ($1, $2) and t.%2$I is not null
         order by %1$s.account_id, t.id
         limit $3', row_name, of_column, of_table, joined) using after_account, after_id, row_limit;
    end
    $$;

-- What an event that identifies a person says: `recordId`, the `address` if its type has one, and with `problem` what cannot be read. An
-- app of an early release stored no record beside the snapshot: then it is the one of its type that the snapshot has.
create function read_person_event(of_event_type text, of_record_id bigint, snapshot json) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
    declare
      address_max constant int := 254;
      known {schema}.event_type;
      record_id text := case when of_record_id > 0 then of_record_id end;
      parsed jsonb;
      own_path text;
      own_value jsonb;
      own_address text;
    begin
      select * into known from {schema}.event_type e where e.type = of_event_type;
      begin
        parsed := snapshot::jsonb;
      exception when others then
        return jsonb_build_object('recordId', record_id, 'problem', 'its snapshot is no jsonb: ' || sqlerrm);
      end;
      if of_record_id is null then
        select case when count(distinct id) = 1 then min(id) end into record_id
        from jsonb_each(case when jsonb_typeof(parsed) = 'object' then parsed end) as m (name, value),
          substring(m.value ->> 'id' from '/' || known.record_type || '/([1-9][0-9]{0,18})$') as i (id)
        where id is not null;
        if record_id::numeric > 9223372036854775807 then
          record_id := null;
        end if;
      end if;
      foreach own_path in array coalesce(known.addresses, '{}') loop
        own_value := parsed #> string_to_array(own_path, '.');
        if jsonb_typeof(own_value) = 'string' and length(own_value #>> '{}') <= address_max then
          own_address := own_value #>> '{}';
          exit;
        end if;
      end loop;
      return jsonb_build_object('recordId', record_id, 'address', own_address, 'problem', case
        when record_id is null then format('it has no id of a %s', known.record_type)
        when known.addresses <> '{}' and own_address is null then format('it has no address of at most %s characters', address_max)
      end);
    end
    $$;

-- Whether the person of an event, or of a delivery, is being erased. The record is null if an app of an early release wrote it.
create function is_of_erased_person(of_account_id bigint, of_event_type text, of_record_id bigint, snapshot json) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select exists (
        select
        from {schema}.person_erasure p
        join {schema}.event_type e on e.type = of_event_type and e.record_type = p.record_type and e.persons <> '{}'
        where p.account_id = of_account_id and case
          when of_record_id is not null then of_record_id = p.record_id
          -- It was erased before.
          when snapshot::text = '{}' then true
          else {schema}.read_person_event(of_event_type, null, snapshot) ->> 'recordId' = p.record_id::text
        end
      )
    $$;

-- Deletes the keys of a record of a person that contain one of the values that its results are known by. Compares letters and digits only, and
-- first lower-cases ASCII: in a Turkish locale, "I" is not a capital "i". If they are fewer than five, they have to be whole words.
create function forget_keys_of_person(of_record_type text, of_record_id bigint) returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      delete from {schema}.idempotency_key k
      using (
        select r.account_id, r.mutation, r.key, words, key_words, replace(words, ' ', '') as letters
        from {schema}.person_results(of_record_type, of_record_id) r,
          {schema}.person_table p, unnest(p.known_by) member,
          jsonb_path_query(r.payload, format('$.**{0 to 2}.%s', to_json(member))::jsonpath) t (value),
          btrim(regexp_replace(lower(lower(t.value #>> '{}' collate "C") collate "default"), '[^[:alnum:]]+', ' ', 'g')) words,
          btrim(regexp_replace(lower(lower(r.key collate "C") collate "default"), '[^[:alnum:]]+', ' ', 'g')) key_words
        where p.record_type = of_record_type and jsonb_typeof(t.value) = 'string'
      ) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key) and r.letters <> '' and case
        when length(r.letters) < 5 then format(' %s ', r.key_words) ~ format(' %s ', replace(r.words, ' ', ' ?'))
        else strpos(replace(r.key_words, ' ', ''), r.letters) > 0
      end
    $$;

-- Begins to erase the person of a record, whose row can be gone, and replaces what identifies in the row. Writes an entry of the audit
-- log, for which the transaction can set `deedwire.audit_claim` as for audit_change(). After forget_keys_of_person(), which needs the
-- results.
create function begin_person_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      own record;
    begin
      if exists (
        select from {schema}.find_person(of_record_type, of_record_id) r where r.account_id <> of_account_id
        union all
        select
        from {schema}.person_erasure e
        where e.record_type = of_record_type and e.record_id = of_record_id and e.account_id <> of_account_id
      ) then
        raise exception 'The % % is of another account than %, or its erasure with another account has not ended.',
          of_record_type, of_record_id, of_account_id;
      end if;
      insert into {schema}.person_erasure (record_type, record_id, account_id, interface)
      select of_record_type, of_record_id, a.id, a.interface
      from {schema}.account a
      where a.id = of_account_id and exists (
        select
        from {schema}.person_table p join {schema}.own_table o using (relation)
        where p.record_type = of_record_type and o.of_interface = a.interface
        union all
        select
        from {schema}.event_type e
        where e.record_type = of_record_type and e.persons <> '{}' and a.interface = any (e.interfaces)
      )
      on conflict do nothing;
      if found then
        if coalesce(claim ->> 'actor', '') = '' then
          claim := null;
        end if;
        insert into {schema}.audit_entry
          (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
        select pg_current_xact_id(), case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250),
          left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), 'person.erase', of_record_type || '/' || of_record_id,
          id, interface, jsonb_strip_nulls(jsonb_build_object('command', left(claim ->> 'command', 100)))
        from {schema}.account
        where id = of_account_id;
      end if;
      -- Its client must not create the record again.
      update {schema}.idempotency_key k
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      from {schema}.person_results(of_record_type, of_record_id) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key);
      for own in
        select c.relation, string_agg(format('%I = %s', c.column_name, coalesce(c.replacement, 'null')), ', ') as changes
        from {schema}.person_columns(of_record_type) c
        group by c.relation
      loop
        execute format('update {schema}.%I t set %s where t.id = $1 and %s = $2',
          own.relation, own.changes, {schema}.account_of_own(own.relation, 't')) using of_record_id, of_account_id;
      end loop;
    end
    $$;

-- Erases events, which no build can render then, and what waits for fan-out. A round that has read an entry
-- of the queue either commits before, or finds it deleted and writes nothing. Returns how many events had something to erase.
create function erase_person_events(of_events bigint[]) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      events_max constant int := 1000;
      own bigint[];
      erased bigint;
    begin
      if cardinality(of_events) > events_max then
        raise exception 'At most % events are erased at once, not %.', events_max, cardinality(of_events);
      end if;
      select array_agg(e.id order by e.id) into own
      from unnest(of_events) as wanted (id)
      cross join lateral (select * from {schema}.webhook_event where id = wanted.id limit 1) e
      where {schema}.is_of_erased_person(e.account_id, e.event_type, e.record_id, e.snapshot);
      perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_event where id = any (own)));
      -- No index has the events of the queue, so this reads the entries of the accounts. Again for what a round has deferred that the
      -- first one waited for.
      for attempt in 1..2 loop
        delete from {schema}.webhook_event_queue q
        using (select distinct account_id from {schema}.person_erasure) p
        where q.shard = (p.account_id & 63)::smallint and q.account_id = p.account_id and q.event_id = any (own);
      end loop;
      update {schema}.webhook_event set snapshot = '{}' where id = any (own) and snapshot::text <> '{}';
      get diagnostics erased = row_count;
      return erased;
    end
    $$;

-- Marks deliveries as erased, and deletes the payloads of their events. Those that are pending have no size then, so that their
-- worker does not miss the payload. Returns how many were not marked.
create function mark_erased_deliveries(of_deliveries bigint[]) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deliveries_max constant int := 1000;
      own bigint[];
      subscriptions bigint[];
      events bigint[];
      marked bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'At most % deliveries are erased at once, not %.', deliveries_max, cardinality(of_deliveries);
      end if;
      select array_agg(d.id order by d.id), array_agg(distinct d.subscription_id), array_agg(distinct d.event_id)
      into own, subscriptions, events
      from {schema}.webhook_delivery d
      where d.id = any (of_deliveries)
        and {schema}.is_of_erased_person(d.account_id, d.event_type, d.record_id,
          (select e.snapshot from {schema}.webhook_event e where e.id = d.event_id limit 1));
      perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_delivery where id = any (own)));
      update {schema}.webhook_delivery set erased_at = now() where id = any (own) and erased_at is null;
      get diagnostics marked = row_count;
      update {schema}.webhook_pending_delivery
      set body_bytes = 0
      where subscription_id = any (subscriptions) and delivery_id = any (own);
      delete from {schema}.webhook_payload where event_id = any (events);
      return marked;
    end
    $$;

-- Lets the workers read the subscriptions again that have one of these deliveries pending, as after a change. Returns their
-- accounts.
create function reread_erased_deliveries(of_deliveries bigint[]) returns setof bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      select distinct p.account_id, p.interface, p.subscription_id
      from {schema}.webhook_delivery d
      join {schema}.webhook_pending_delivery p on p.subscription_id = d.subscription_id and p.delivery_id = d.id
      where d.id = any (of_deliveries) and d.erased_at is not null
      returning account_id
    $$;

-- Whether no worker that runs has one of their subscriptions left to read again.
create function are_erased_deliveries_reread(of_deliveries bigint[]) returns boolean
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select not exists (
        select
        from (select distinct account_id, subscription_id from {schema}.webhook_delivery where id = any (of_deliveries)) d
        join {schema}.webhook_event_queue q on q.shard = (d.account_id & 63)::smallint and q.account_id = d.account_id
          and q.event_id is null and q.subscription_id = d.subscription_id and q.blocked_on is null
        where {schema}.webhook_has_worker(d.account_id)
      )
    $$;

-- How many rows of other tables belong to events and deliveries.
create function count_kept_of_person(of_events bigint[], of_deliveries bigint[]) returns jsonb
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      select jsonb_build_object(
        'webhook_payload', (select count(*) from {schema}.webhook_payload where event_id = any (of_events)),
        'webhook_event_queue', (
          select count(*)
          from (select distinct account_id from {schema}.webhook_event where id = any (of_events)) a
          join {schema}.webhook_event_queue q on q.shard = (a.account_id & 63)::smallint and q.account_id = a.account_id
          where q.event_id = any (of_events)
        ),
        'webhook_pending_delivery', (
          select count(*)
          from {schema}.webhook_delivery d
          join {schema}.webhook_pending_delivery p on p.subscription_id = d.subscription_id and p.delivery_id = d.id
          where d.id = any (of_deliveries)
        ),
        'webhook_replay', (
          select count(*)
          from {schema}.webhook_replay
          where delivery_id = any (of_deliveries) and ended_at is null and cancelled_at is null
        ),
        'webhook_exchange', (select count(*) from {schema}.webhook_exchange where delivery_id = any (of_deliveries))
      )
    $$;

-- Ends deliveries that are marked: none is pending or to be retried, and what their attempts sent and received is deleted.
-- Returns how many exchanges were.
create function end_erased_deliveries(of_deliveries bigint[]) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      deliveries_max constant int := 1000;
      own bigint[];
      subscriptions bigint[];
      erased bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'At most % deliveries are ended at once, not %.', deliveries_max, cardinality(of_deliveries);
      end if;
      select array_agg(d.id order by d.id), array_agg(distinct d.subscription_id) into own, subscriptions
      from {schema}.webhook_delivery d
      where d.id = any (of_deliveries) and d.erased_at is not null;
      perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_delivery where id = any (own)));
      with unsent as (
        delete from {schema}.webhook_pending_delivery
        where subscription_id = any (subscriptions) and delivery_id = any (own)
        returning subscription_id, delivery_id, interface
      )
      insert into {schema}.webhook_failed_delivery (subscription_id, delivery_id, interface, is_erased)
      select subscription_id, delivery_id, interface, true
      from unsent
      on conflict do nothing;
      update {schema}.webhook_failed_delivery
      set is_erased = true
      where subscription_id = any (subscriptions) and delivery_id = any (own) and not is_erased;
      update {schema}.webhook_replay
      set ended_at = now(), skipped = skipped + 1, last_id = delivery_id
      where delivery_id = any (own) and ended_at is null and cancelled_at is null;
      -- The bound of the ids excludes the partitions of coming days.
      delete from {schema}.webhook_exchange
      where delivery_id = any (own)
        and id < (extract(epoch from clock_timestamp() - timestamptz '2026-01-01Z')::bigint + 86400) * 1000 << 22;
      get diagnostics erased = row_count;
      return erased;
    end
    $$;

create function end_person_erasure(of_record_type text, of_record_id bigint) returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      delete from {schema}.person_erasure where record_type = of_record_type and record_id = of_record_id
    $$;

create trigger check_home before insert on person_erasure for each row when (current_setting('deedwire.homes', true) is distinct from
  '*') execute function check_home('account_id');

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Copies of the database, and rows of other cells
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- Partitions of the history whose first `pages` pages have no row that stays.
create table foreign_partition (
  name text constraint foreign_partition_name_bounds check (octet_length(name) <= 63) primary key,
  pages bigint not null
);

-- The last number of each sequence, and the highest one that rows contain. Reads a few index entries. Not record_number: ids
-- contain the time. Of matters and audit entries, the last 1,000 count.
create function sequence_states() returns table (sequence text, last_number bigint, highest_used bigint)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
      select 'webhook_queue_position', s.last_value - (not s.is_called)::int, greatest(
        (select max(queue_position) from {schema}.webhook_subscription),
        (
          select max(last.position)
          from generate_series(0, 63) shard
          cross join lateral (
            select q.position
            from {schema}.webhook_event_queue q
            where q.shard = shard.shard::smallint
            order by q.position desc
            limit 1
          ) last
        ),
        0
      )
      from {schema}.webhook_queue_position s
      union all
      select 'webhook_worker_id_seq', s.last_value - (not s.is_called)::int,
        coalesce((select max(id) from {schema}.webhook_worker), 0)
      from {schema}.webhook_worker_id_seq s
      union all
      select * from {schema}.own_sequence_states()
      union all
      select 'audit_entry_number', s.last_value - (not s.is_called)::int, coalesce((
        select max(number) from (select number from {schema}.audit_entry order by at desc, number desc limit 1000) newest
      ), 0)
      from {schema}.audit_entry_number s
    $$;

-- Advances each sequence to the highest number that rows contain. Entries of the queue with numbers of the old sequence get
-- new ones in their order: subscriptions with a higher position would ignore them.
create function advance_sequences() returns table (sequence text, before bigint, after bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      behind record;
      entry record;
    begin
      -- ALTER SEQUENCE waits for the transactions that have drawn numbers, and blocks others until the commit.
      for behind in select s.sequence from {schema}.sequence_states() s where s.last_number < s.highest_used loop
        execute format('alter sequence %I.%I cache 1', {schema_text}, behind.sequence);
      end loop;
      for behind in select * from {schema}.sequence_states() s where s.last_number < s.highest_used loop
        if behind.sequence = 'webhook_queue_position' and exists (
          select from {schema}.webhook_worker where alive and leased_until > clock_timestamp()
        ) then
          raise exception 'A worker is running. Stop all workers, or wait until their leases have expired, and try again.';
        end if;
        perform setval(format('%I.%I', {schema_text}, behind.sequence)::regclass, behind.highest_used);
        if behind.sequence = 'webhook_queue_position' then
          for entry in
            select q.shard, q.position
            from {schema}.webhook_event_queue q
            where q.position <= behind.last_number
            order by q.position
          loop
            update {schema}.webhook_event_queue q
            set position = nextval(format('%I.webhook_queue_position', {schema_text})::regclass)
            where q.shard = entry.shard and q.position = entry.position;
          end loop;
        end if;
        sequence := behind.sequence;
        before := behind.last_number;
        after := behind.highest_used;
        return next;
      end loop;
    end
    $$;

-- Pauses all subscriptions, revokes the keys and ends the sessions and links of the portal, cancels replays, and discards queued
-- events and alerts. Deliveries from before can no longer be sent: their workers read none below the bound. Returns what reached
-- others, or let them in; of a dry run, without a change.
create function close_copy(is_dry_run boolean) returns table ("activeSubscriptions" int, keys int, "portalSessions" int, replays int,
  "queuedEvents" int, "pendingDeliveries" int)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      perform {schema}.require_no_app();
      with open as (
        select s.id, s.paused_reason
        from {schema}.webhook_subscription s
        where s.kind = 'PUSH' and s.deleted_at is null
          and (s.paused_reason is null or s.paused_reason <> 'OWNER' and s.owner_paused_at is null)
      ), paused as (
        update {schema}.webhook_subscription s
        set paused_reason = coalesce(s.paused_reason, 'OPERATOR'), paused_at = coalesce(s.paused_at, now()), owner_paused_at = now()
        from open
        where s.id = open.id and not is_dry_run
      )
      select count(*) filter (where open.paused_reason is null) into "activeSubscriptions" from open;
      -- Rows of accounts that are away cannot change, and nobody can use them.
      with open as (
        select k.key_id
        from {schema}.api_key k join {schema}.api_client c on c.id = k.api_client_id
        where k.revoked_at is null and not exists (select from {schema}.account_away a where a.account_id = c.account_id)
      ), revoked as (
        update {schema}.api_key k set revoked_at = now() from open where k.key_id = open.key_id and not is_dry_run
      )
      select count(*) into keys from open;
      with open as (
        select s.id
        from {schema}.portal_session s
        where s.expires_at > now() and not exists (select from {schema}.account_away a where a.account_id = s.account_id)
      ), ended as (
        -- Rounded to milliseconds, now() could be in the future.
        update {schema}.portal_session s
        set expires_at = date_trunc('milliseconds', now())
        from open
        where s.id = open.id and not is_dry_run
      )
      select count(*) into "portalSessions" from open;
      with open as (
        select r.id
        from {schema}.webhook_replay r
        where r.ended_at is null and r.cancelled_at is null
          and not exists (select from {schema}.account_away a where a.account_id = r.account_id)
      ), cancelled as (
        update {schema}.webhook_replay r set cancelled_at = now() from open where r.id = open.id and not is_dry_run
      )
      select count(*) into replays from open;
      select count(*) into "queuedEvents" from {schema}.webhook_event_queue where event_id is not null;
      select count(*) into "pendingDeliveries" from {schema}.webhook_pending_delivery;
      if not is_dry_run then
        update {schema}.webhook_retention set expired_before = greatest(expired_before, {schema}.new_record_id());
        delete from {schema}.webhook_event_queue where event_id is not null;
        -- Of the pauses above too: no alert reports them.
        delete from {schema}.webhook_subscription_episode;
        delete from {schema}.webhook_failure_to_report;
        delete from {schema}.contact_email;
        delete from {schema}.contact_confirmation;
      end if;
      return next;
    end
    $$;

-- Expires the pending deliveries of a copy that follow these ids, up to `batch`, and returns the last of them. Its ids
-- are texts because JSON would round them.
create function expire_copied_deliveries(after_subscription bigint, after_delivery bigint, batch int) returns table (subscription_id
  text, delivery_id text, expired int)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    begin
      perform {schema}.require_no_app();
      return query
        with due as materialized (
          select p.ctid, p.subscription_id, p.delivery_id, p.interface
          from {schema}.webhook_pending_delivery p
          where (p.subscription_id, p.delivery_id) > (after_subscription, after_delivery)
          order by p.subscription_id, p.delivery_id
          limit batch
        ), ended as (
          delete from {schema}.webhook_pending_delivery p using due where p.ctid = due.ctid
        ), failed as (
          insert into {schema}.webhook_failed_delivery (subscription_id, delivery_id, interface)
          select due.subscription_id, due.delivery_id, due.interface from due
          on conflict do nothing
        )
        select due.subscription_id::text, due.delivery_id::text, (count(*) over ())::int
        from due
        order by due.subscription_id desc, due.delivery_id desc
        limit 1;
    end
    $$;

-- The columns that lead to an account, best first, and the table whose `id` they have, unless it is the account.
create function account_columns() returns table (number int, column_name text, parent text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
      values (1, 'account_id', null), (2, 'subscription_id', 'webhook_subscription'), (3, 'api_client_id', 'api_client'),
        (4, 'event_id', 'webhook_event')
    $$;

-- An expression: the cell of the account of a row `t` of a table, null if it is the own one or the account is frozen. Null for a
-- table without accounts, and for those that stay.
create function foreign_cell_in(of_table text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
      select format(
        '(select h.cell from %s{schema}.account_home h where h.account_id = %s and h.frozen_at is null '
          || 'and h.cell <> (select cell from {schema}.installation where only_row))',
        case when k.parent is not null then format('%s p cross join ', coalesce(
          -- A payload is in the partition of the day of its event.
          to_regclass(format('%I.%I', {schema_text}, k.parent) || substring(of_table from '_\d{8}$')),
          to_regclass(format('%I.%I', {schema_text}, k.parent))
        )) end,
        case when k.parent is null then k.account else format('p.account_id and p.id = t.%I', k.column_name) end
      )
      from (
        select 0 as number, null as parent, null as column_name, {schema}.account_of_own(o.relation, 't') as account
        from {schema}.own_table o
        where o.relation = of_table
        union all
        select k.number, k.parent, k.column_name, 't.account_id'
        from pg_attribute a
        join {schema}.account_columns() k on k.column_name = a.attname
        where a.attrelid = to_regclass(format('%I.%I', {schema_text}, of_table)) and not a.attisdropped
          and of_table !~ '^(account_home|audit_entry(_.*)?)$'
      ) k
      order by k.number
      limit 1
    $$;

-- The tables and partitions with rows of accounts in the order in which rows can be deleted: the queue, whose entries count as
-- waiting, then children before parents. `needed`: a partition of a day that is over can be dropped if these have no row that stays. A
-- row of a day is written later only for an event or a delivery of this day.
create function foreign_tables() returns table (name text, root text, needed text[])
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
      with recursive own as (
        select c.oid, c.relname::text as name, c.relkind
        from pg_class c
        where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and {schema}.foreign_cell_in(c.relname) is not null
      ), parents as (
        select conrelid as child, confrelid as parent from pg_constraint where contype = 'f'
        union
        select a.attrelid, to_regclass(format('%I.%I', {schema_text}, k.parent))
        from own
        join pg_attribute a on a.attrelid = own.oid and not a.attisdropped
        join {schema}.account_columns() k on k.column_name = a.attname and k.parent is not null
      ), depths as (
        select oid, 0 as depth from own
        union
        select p.parent, d.depth + 1
        from depths d
        join parents p on p.child = d.oid and p.parent <> d.oid
        where d.depth < 20
      )
      select leaf.name, own.name, case
        when substring(leaf.name from '_(\d{8})$') < to_char((clock_timestamp() at time zone 'UTC') - interval '1 day', 'YYYYMMDD')
        then array(
          select distinct n
          from unnest(array[leaf.name, 'webhook_event' || right(leaf.name, 9), 'webhook_delivery' || right(leaf.name, 9)]) n
          where to_regclass(format('%I.%I', {schema_text}, n)) is not null
          order by n
        )
      end
      from own
      join (select oid, max(depth) as depth from depths group by oid) d using (oid)
      cross join lateral (
        select own.name where own.relkind = 'r'
        union all
        select c.relname::text
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = own.oid and not i.inhdetachpending and pg_relation_size(c.oid) > 0
      ) leaf
      order by own.name <> 'webhook_event_queue', d.depth, own.name, leaf.name
    $$;

-- Estimates the size of the rows of accounts of other cells, from some pages of each table. The cell is null for the other rows.
create function foreign_bytes() returns table (cell smallint, root text, bytes bigint)
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      part record;
      leaf text;
    begin
      if not exists (
        select from {schema}.account_home h where h.frozen_at is null and h.cell <> (select i.cell from {schema}.installation i where i.only_row)
      ) then
        return;
      end if;
      for part in select t.name, t.root from {schema}.foreign_tables() t loop
        leaf := format('%I.%I', {schema_text}, part.name);
        begin
          continue when pg_relation_size(leaf::regclass) = 0;
          return query execute format(
            'select cell, %1$L, (rows / sum(rows) over () * pg_total_relation_size(%2$L))::bigint
             from (
               select %3$s as cell, count(*) as rows
               from %2$s t tablesample system (least(100, %4$s * 100.0 * current_setting(''block_size'')::int / pg_relation_size(%2$L)))
                 repeatable (0)
               group by 1
             ) sampled',
            part.root, leaf, {schema}.foreign_cell_in(part.name), case when part.name = part.root then 64 else 8 end);
        exception when undefined_table then
          -- The worker has dropped it.
        end;
      end loop;
    end
    $$;

-- Deletes the rows of accounts of other cells in some pages of a table. Returns how many, the number of pages of the table, and the
-- rows that stay because rows that stay refer to them. Null if the table has none, or the worker has dropped it.
create function delete_foreign_rows(of_table text, from_page bigint, page_count int) returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      pages_max constant int := 1000;
      leaf constant text := format('%I.%I', {schema_text}, of_table);
      cell_of constant text := {schema}.foreign_cell_in(of_table);
      rows_there text;
      one tid;
      referring text;
      name_of_row text;
      deleted bigint := 0;
      kept text[] := '{}';
    begin
      perform {schema}.refuse_open_split();
      if cell_of is null then
        return null;
      end if;
      -- For check_home(). Only a superuser could set it for the function.
      perform set_config('deedwire.pruning', 'on', true);
      rows_there := format('%s t where t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)'' and %s is not null',
        leaf, from_page, from_page + least(page_count, pages_max), cell_of);
      begin
        execute 'delete from ' || rows_there;
        get diagnostics deleted = row_count;
      exception when foreign_key_violation then
        for one in execute 'select t.ctid from ' || rows_there loop
          begin
            execute format('delete from %s where ctid = $1', leaf) using one;
            deleted := deleted + 1;
          exception when foreign_key_violation then
            get stacked diagnostics referring = table_name;
            execute format(
              'select string_agg(to_jsonb(t) ->> a.attname, '' '' order by a.attnum)
               from %s t, pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
               where t.ctid = $1 and i.indrelid = %L::regclass and i.indisprimary', leaf, leaf)
            into name_of_row using one;
            kept := kept || format('%s %s, because of %s', of_table, name_of_row, referring);
          end;
        end loop;
      end;
      perform set_config('deedwire.pruning', '', true);
      return jsonb_build_object('deleted', deleted, 'kept', kept,
        'pages', pg_relation_size(leaf::regclass) / current_setting('block_size')::int);
    exception when undefined_table then
      return null;
    end
    $$;

-- Looks for rows that stay in the next pages of a partition. Returns false if there is one or the worker has dropped it, true if there
-- is none in the whole partition, and null if further pages are left.
create function check_foreign_partition(of_table text, page_count int) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      pages_max constant int := 1000;
      leaf constant text := format('%I.%I', {schema_text}, of_table);
      cell_of constant text := {schema}.foreign_cell_in(of_table);
      checked bigint;
      next_page bigint;
      stays boolean;
    begin
      perform {schema}.refuse_open_split();
      if cell_of is null then
        return false;
      end if;
      insert into {schema}.foreign_partition as p (name, pages) values (of_table, 0)
      on conflict (name) do update set pages = p.pages
      returning pages into checked;
      next_page := checked + least(page_count, pages_max);
      execute format('select exists (select from %s t where t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)'' and %s is null)',
        leaf, greatest(0, checked - 1), next_page, cell_of)
      into stays;
      if stays then
        delete from {schema}.foreign_partition where name = of_table;
        return false;
      end if;
      checked := least(next_page, pg_relation_size(leaf::regclass) / current_setting('block_size')::int);
      update {schema}.foreign_partition set pages = checked where name = of_table;
      return case when checked < next_page then true end;
    exception when undefined_table then
      return false;
    end
    $$;

-- Drops a partition that has no row that stays. Returns whether it did. As for webhook_drop_partition(), others wait while this
-- waits.
create function drop_foreign_partition(of_table text) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '25ms'
as $$
    declare
      part record;
      checked bigint;
      source text;
      stays boolean;
    begin
      perform {schema}.refuse_open_split();
      select * into part from {schema}.foreign_tables() where name = of_table and needed is not null;
      if not found then
        return false;
      end if;
      execute format('lock table only %I.%I in access exclusive mode', {schema_text}, part.root);
      foreach source in array part.needed loop
        select pages into checked from {schema}.foreign_partition where name = source;
        -- What was written since is at the end: nothing is updated there.
        execute format('select $1 is null or exists (select from %I.%I t where t.ctid >= $2 and %s is null)',
          {schema_text}, source, {schema}.foreign_cell_in(source))
        into stays using checked, format('(%s,0)', greatest(0, checked - 1))::tid;
        if stays then
          return false;
        end if;
      end loop;
      execute format('drop table %I.%I', {schema_text}, of_table);
      delete from {schema}.foreign_partition where to_regclass(format('%I.%I', {schema_text}, name)) is null;
      return true;
    exception when undefined_table then
      return false;
    end
    $$;

-- By itself, `analyze` keeps the statistics of a table without rows, and so samples of what it had. It replaces them here because
-- of a row that no other session sees. Does nothing to other tables, and to those that do not exist.
create function forget_emptied_table(of_table text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
    declare
      emptied constant regclass := case when of_table ~ '^(idempotency_key|webhook_(exchange|payload)_\d{8})$'
        then to_regclass(format('%I.%I', {schema_text}, of_table)) end;
      is_empty boolean;
      own tid;
    begin
      if emptied is null then
        return;
      end if;
      execute format('select not exists (select from %s)', emptied) into is_empty;
      if not is_empty then
        return;
      end if;
      execute format('insert into %1$s select (jsonb_populate_record(null::%1$s, $1)).* returning ctid', emptied)
      into own
      using (
        select jsonb_build_object(
          -- The first id of the partition.
          'id', first_id, 'event_id', first_id, 'event_version', '', 'interface', a.interface, 'body', '', 'delivery_id', 0, 'number', 0,
          'started_at', now(), 'subscription_id', 0, 'callback_url', '', 'request_headers', '{}', 'response_headers', '{}',
          'body_bytes', 0, 'account_id', a.id, 'mutation', '', 'key', '', 'input_hash', '', 'claim', gen_random_uuid(),
          'claimed_until', now(), 'record_deleted', false, 'created_at', now()
        )
        from pg_class c, substring(pg_get_expr(c.relpartbound, c.oid) from '\d+') first_id, {schema}.account a
        -- No row of an account that is away can be written.
        where c.oid = emptied and not exists (select from {schema}.account_away w where w.account_id = a.id)
        limit 1
      );
      execute format('analyze %s', emptied);
      execute format('delete from %s where ctid = $1', emptied) using own;
    end
    $$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- First rows
-- -----------------------------------------------------------------------------------------------------------------------------------------

insert into webhook_retention default values;
insert into webhook_shard (shard) select generate_series(0, 63);

-- What every interface may do.
insert into shared_right
select unnest(string_to_array($$delete on idempotency_key
delete on webhook_handshake_count
delete on webhook_subscription_event_type
execute on routine are_valid(of_table oid, columns smallint[], new_values text[])
execute on routine check_homes(accounts bigint[])
execute on routine confirm_contact_email(of_token bytea)
execute on routine end_process(app text, id uuid)
execute on routine issue_api_key(acting_key text, acting_session bigint, of_client bigint, replaced_key text, overlap_seconds integer, new_key_id text, new_key_hash bytea, new_name text, new_abilities text[], new_addresses cidr[], new_expires_at timestamp with time zone)
execute on routine new_record_id()
execute on routine placeholders_of(of_table text, columns text[], addresses text[])
execute on routine record_use(app text, process_id uuid, counted_ms double precision, overflowed boolean, ended boolean, counted text, clients text[], versions text[], coordinates text[], counts bigint[])
execute on routine register_process(app text, id uuid, version text, digest text)
execute on routine revoke_api_key(acting_key text, acting_session bigint, revoked_key text)
execute on routine store_app_contracts(app text, contracts text)
execute on routine unsubscribe_contact_email(of_token bytea)
execute on routine update_contact_emails(of_account bigint, emails text[], has_portal boolean)
execute on routine webhook_has_worker(account_id bigint)
execute on routine webhook_oldest_queued_event(account_id bigint)
execute on routine webhook_sends_request_headers()
execute on routine webhook_workers_lacking(event_types text[])
execute on routine webhook_workers_without(event_types text[])
insert (abilities) on portal_session
insert (account_id) on audit_entry
insert (account_id) on portal_session
insert (account_id) on webhook_event
insert (account_id) on webhook_event_queue
insert (account_id) on webhook_replay
insert (action) on audit_entry
insert (actor) on audit_entry
insert (actor) on portal_session
insert (actor_type) on audit_entry
insert (address) on audit_entry
insert (delivery_id) on webhook_replay
insert (details) on audit_entry
insert (event_id) on webhook_event_queue
insert (event_type) on webhook_event
insert (event_types) on webhook_replay
insert (expires_at) on portal_session
insert (from_id) on webhook_replay
insert (from_sequence) on webhook_replay
insert (id) on webhook_event
insert (interface) on audit_entry
insert (interface) on portal_session
insert (interface) on webhook_event
insert (interface) on webhook_event_queue
insert (interface) on webhook_replay
insert (interface) on webhook_subscription_sequence
insert (is_test) on webhook_event
insert (key_id) on portal_session
insert (last_id) on webhook_replay
insert (link_hash) on portal_session
insert (only_failed) on webhook_replay
insert (per_second) on webhook_replay
insert (record_id) on webhook_event
insert (request_id) on audit_entry
insert (request_id) on webhook_event
insert (return_url) on portal_session
insert (snapshot) on webhook_event
insert (subject) on audit_entry
insert (subscription_id) on portal_session
insert (subscription_id) on webhook_event_queue
insert (subscription_id) on webhook_replay
insert (subscription_id) on webhook_subscription_sequence
insert (until_id) on webhook_replay
insert (until_sequence) on webhook_replay
insert on idempotency_key
insert on webhook_handshake_count
insert on webhook_subscription
insert on webhook_subscription_event_type
select (cell) on installation
select (only_row) on installation
select on account
select on account_away
select on account_home
select on api_client
select on api_key
select on app_migration
select on audit_action
select on contact_email
select on cost_bucket
select on event_type
select on idempotency_key
select on interface
select on own_sequence
select on own_table
select on person_table
select on portal_session
select on schema_migration
select on sequence webhook_queue_position
select on webhook_attempt
select on webhook_delivery
select on webhook_event
select on webhook_exchange
select on webhook_failed_delivery
select on webhook_handshake_count
select on webhook_hour_statistics
select on webhook_payload
select on webhook_pending_delivery
select on webhook_receiver_state
select on webhook_replay
select on webhook_retention
select on webhook_subscription
select on webhook_subscription_event_type
select on webhook_subscription_sequence
update (callback_url) on webhook_subscription
update (cancelled_at) on webhook_replay
update (deleted_at) on webhook_subscription
update (expires_at) on portal_session
update (hastened_at) on webhook_subscription
update (last_read_at) on webhook_subscription
update (last_used_at) on api_key
update (last_used_at) on portal_session
update (last_used_from) on api_key
update (last_used_version) on api_key
update (name) on webhook_subscription
update (next_secret_ciphertext) on webhook_subscription
update (owner_paused_at) on webhook_subscription
update (paused_at) on webhook_subscription
update (paused_reason) on webhook_subscription
update (points) on cost_bucket
update (request_header_ciphertext) on webhook_subscription
update (request_header_name) on webhook_subscription
update (request_header_origin) on webhook_subscription
update (rotation_ends_at) on webhook_subscription
update (rotation_started_at) on webhook_subscription
update (secret_ciphertext) on webhook_subscription
update (send_pending_at) on webhook_subscription
update (settled_at) on cost_bucket
update (started_at) on portal_session
update (timeout_seconds) on webhook_subscription
update (token_hash) on portal_session
update (url_number) on webhook_subscription
update on idempotency_key
update on webhook_handshake_count
usage on sequence audit_entry_number
usage on sequence record_number
usage on sequence webhook_queue_position$$, E'\n'));

insert into shared_policy values
  ('account', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('account_home', '{role}', $$for select to {role} using (exists (select from account a where a.id = account_id))$$),
  ('api_client', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('api_key', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('audit_entry', '{role}', $$for insert to {role} with check (interface = {interface} and actor_type = 'CLIENT')$$),
  ('audit_entry', '{role}_actions', $$as restrictive for insert to {role} with check (action !~ '^(organization|secrets|database|cell)\.'
      and not exists (select from audit_action a where a.action = audit_entry.action and a.of_operators))$$),
  ('contact_email', '{role}', $$for select to {role} using (interface = {interface})$$),
  ('cost_bucket', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('idempotency_key', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('portal_session', '{role}_insert', $$for insert to {role} with check (interface = {interface} and key_id is not null)$$),
  ('portal_session', '{role}_select', $$for select to {role} using (interface = {interface})$$),
  ('portal_session', '{role}_update', $$for update to {role} using (interface = {interface})$$),
  ('webhook_attempt', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_delivery', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_event', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_event_queue', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_exchange', '{role}', $$for select to {role} using (interface = {interface})$$),
  ('webhook_failed_delivery', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_handshake_count', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_hour_statistics', '{role}', $$for select to {role} using (interface = {interface})$$),
  ('webhook_payload', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_pending_delivery', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_receiver_state', '{role}', $$for select to {role} using (exists (select from webhook_subscription s where s.id = subscription_id))$$),
  ('webhook_replay', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_subscription', '{role}', $$for all to {role} using (interface = {interface})
    with check (interface = {interface} and queue_position <= (select last_value from webhook_queue_position))$$),
  ('webhook_subscription_event_type', '{role}', $$for all to {role} using (interface = {interface})$$),
  ('webhook_subscription_sequence', '{role}', $$for all to {role} using (interface = {interface})$$);

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Row-level security and rights
-- -----------------------------------------------------------------------------------------------------------------------------------------

do $do$
declare
  relation text;
begin
  foreach relation in array array[
    'account', 'api_client', 'api_key', 'idempotency_key', 'webhook_subscription', 'webhook_subscription_event_type',
    'webhook_subscription_sequence', 'webhook_receiver_state', 'webhook_handshake_count', 'webhook_event', 'webhook_payload',
    'webhook_delivery', 'webhook_attempt', 'webhook_pending_delivery', 'webhook_failed_delivery', 'webhook_event_queue', 'audit_entry',
    'cost_bucket', 'webhook_replay', 'webhook_exchange', 'webhook_hour_statistics', 'webhook_subscription_episode',
    'webhook_failure_to_report', 'portal_session', 'app_contracts', 'app_process', 'interface_use', 'use_counting', 'person_erasure',
    'account_home', 'cell_split', 'organization_home', 'foreign_partition', 'counted_coordinates', 'contact_email', 'contact_confirmation',
    'contact_token', 'contact_mail'
  ] loop
    execute format('alter table %I enable row level security', relation);
  end loop;
end
$do$;

-- Whatever roles there are.
revoke execute on function
  new_record_id, delete_expired_idempotency_keys, maintain_audit_log, create_cost_bucket, webhook_due_partitions, webhook_drop_partition,
  audit_change, merge_audit_claim, keep_revocation, sequence_states, advance_sequences, webhook_has_worker, webhook_end_rotations,
  webhook_due_exchange_partitions, webhook_drop_exchange_partition, set_callback_url_since, webhook_erase_exchanges,
  webhook_delete_listener, webhook_delete_unread_listeners, webhook_check_changed_listener, webhook_check_new_subscription,
  webhook_check_new_event_types, webhook_check_new_replay, webhook_forget_subscriptions, webhook_erase_name, webhook_append_alert,
  webhook_alert_time, webhook_raise_alerts, webhook_note_pause, check_portal_session, audit_portal_session,
  delete_expired_portal_sessions, check_app_of_session, register_process, store_app_contracts, end_process, begin_counting, record_use,
  delete_old_use, webhook_oldest_queued_event, person_results, person_addresses, person_row, begin_person_erasure, is_of_erased_person,
  erase_person_events, mark_erased_deliveries, reread_erased_deliveries, are_erased_deliveries_reread, count_kept_of_person,
  end_erased_deliveries, end_person_erasure, role_of_interface, add_interface, webhook_workers_without, next_freeze, check_homes,
  check_home, offer_home, notify_homes, webhook_unquiet_workers, refuse_account_elsewhere, take_cell_number, forget_keys_of_person,
  forget_emptied_table, account_columns, foreign_cell_in, foreign_tables, foreign_bytes, refuse_open_split, delete_foreign_rows,
  check_foreign_partition, drop_foreign_partition, read_person_event, size_of_coordinates, keep_coordinates, session_is_operator,
  session_sees_account, guard_audit_entries, rendered_event_types, webhook_workers_lacking, keep_cancellation, bound_debt, require_no_app,
  close_copy, expire_copied_deliveries, webhook_delete_subscription, check_api_key, acting_on_keys, append_key_event, issue_api_key,
  revoke_api_key, forget_address_of_use, forget_ended_api_keys, report_expiring_api_keys, webhook_note_lowered_timeout,
  webhook_erase_request_header, webhook_sends_request_headers, role_name, role_of_app, apps_of_session, grant_shared_rights,
  account_of_own, own_sequence_states, own_table, own_sequence, person_columns, find_person, person_accounts, guard_own_table, are_valid,
  placeholders_of, person_addresses_by_account, contact_address_hash, audit_contact, update_contact_emails, confirm_contact_email,
  unsubscribe_contact_email, add_contact_mails, take_contact_mail, end_contact_mail, forget_contacts, erase_contact_emails, role_prefix,
  has_role, for_app, application_role, for_applications, add_application_role
from public;
revoke execute on procedure webhook_create_partitions from public;

-- The group roles of the worker and of the operator. The login of an app is a member of its role. Roles belong to the whole cluster: the
-- migration of another database may have created them, or may create them at this moment. An owner that may not create roles gets none, and
-- no policies and grants for them. The roles of interfaces come with add_interface().
do $do$
declare
  own record;
  app text;
begin
  foreach app in array array['webhook-worker', 'operator-cli'] loop
    if to_regrole(quote_ident(role_name(app))) is null then
      begin
        execute format('create role %I nologin', role_name(app));
      exception
        when duplicate_object or unique_violation then
          null;
        when insufficient_privilege then
          raise warning 'The login % may not create the role %, so logins of it have no rights and row-level security does not apply.',
            session_user, role_name(app);
      end;
    end if;
  end loop;

  for own in
    select p.*, quote_ident(role_name(p.app)) as own_role
    from (values
      ('operator-cli', 'account', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'account_home', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'api_client', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'api_key', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'app_contracts', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'app_process', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'audit_entry', 'operator_insert', $$for insert to {role} with check (actor_type = 'OPERATOR')$$),
      ('operator-cli', 'audit_entry', 'operator_select', 'for select to {role} using (true)'),
      ('operator-cli', 'cell_split', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'contact_email', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'counted_coordinates', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'idempotency_key', 'operator_select', 'for select to {role} using (true)'),
      ('operator-cli', 'idempotency_key', 'operator_update', 'for update to {role} using (true)'),
      ('operator-cli', 'interface_use', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'organization_home', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'person_erasure', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'portal_session', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'use_counting', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'webhook_attempt', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_delivery', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_event', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_event_queue', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_exchange', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'webhook_failed_delivery', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_handshake_count', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_hour_statistics', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'webhook_payload', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_pending_delivery', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_receiver_state', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'webhook_replay', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_subscription', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_subscription_episode', 'operator', 'for select to {role} using (true)'),
      ('operator-cli', 'webhook_subscription_event_type', 'operator', 'to {role} using (true)'),
      ('operator-cli', 'webhook_subscription_sequence', 'operator', 'to {role} using (true)'),
      ('webhook-worker', 'account_home', 'webhook_worker', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_attempt', 'webhook_worker_insert', 'for insert to {role} with check (true)'),
      ('webhook-worker', 'webhook_attempt', 'webhook_worker_select', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_delivery', 'webhook_worker_insert', 'for insert to {role} with check (true)'),
      ('webhook-worker', 'webhook_delivery', 'webhook_worker_lock', 'for update to {role} using (true) with check (false)'),
      ('webhook-worker', 'webhook_delivery', 'webhook_worker_select', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_event', 'webhook_worker_insert', 'for insert to {role} with check (true)'),
      ('webhook-worker', 'webhook_event', 'webhook_worker_select', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_event_queue', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_exchange', 'webhook_worker', 'for insert to {role} with check (true)'),
      ('webhook-worker', 'webhook_failed_delivery', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_failure_to_report', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_handshake_count', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_hour_statistics', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_payload', 'webhook_worker_insert', 'for insert to {role} with check (true)'),
      ('webhook-worker', 'webhook_payload', 'webhook_worker_select', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_pending_delivery', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_receiver_state', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_replay', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_subscription', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_subscription_episode', 'webhook_worker', 'for select to {role} using (true)'),
      ('webhook-worker', 'webhook_subscription_event_type', 'webhook_worker', 'to {role} using (true)'),
      ('webhook-worker', 'webhook_subscription_sequence', 'webhook_worker', 'to {role} using (true)')
    ) as p (app, relation, name, words)
    where to_regrole(quote_ident(role_name(p.app))) is not null
  loop
    execute format('create policy %I on %I %s', own.name, own.relation, replace(own.words, '{role}', own.own_role));
  end loop;

  for own in
    select g.words, quote_ident(role_name(g.app)) as own_role
    from (
      select 'webhook-worker' as app,
        unnest(string_to_array($$select on account_away
select on account_home
select on app_migration
select on audit_action
select on event_type
select (only_row, cell) on installation
select on interface
select on own_sequence
select on own_table
select on person_table
select on schema_migration
select, insert on webhook_attempt
select, insert, delete on webhook_deleted_backlog
select, insert, update (sequence) on webhook_delivery
select, insert on webhook_event
select, insert, update, delete on webhook_event_queue
insert on webhook_exchange
select, insert, update, delete on webhook_failed_delivery
select, insert on webhook_failure_to_report
select, insert, update, delete on webhook_hour_statistics
select, insert on webhook_payload
select, insert, update, delete on webhook_pending_delivery
select, insert, update, delete on webhook_receiver_state
select, delete, update (last_id, queued, skipped, ended_at, skipped_pending) on webhook_replay
select, update on webhook_retention
select, update on webhook_shard
select, update (paused_reason, paused_at, owner_paused_at, hastened_at) on webhook_subscription
select on webhook_subscription_episode
select on webhook_subscription_event_type
select, update on webhook_subscription_sequence
select, insert, update, delete on webhook_worker
usage on sequence record_number
select, usage on sequence webhook_queue_position
execute on function are_valid
execute on function delete_expired_idempotency_keys
execute on function delete_expired_portal_sessions
execute on function delete_old_use
execute on function end_contact_mail
execute on function end_process
execute on function forget_contacts
execute on function forget_ended_api_keys
execute on function maintain_audit_log
execute on function new_record_id
execute on function placeholders_of
execute on function register_process
execute on function report_expiring_api_keys
execute on function sequence_states
execute on function store_app_contracts
execute on function take_contact_mail
execute on function webhook_delete_unread_listeners
execute on function webhook_drop_exchange_partition
execute on function webhook_drop_partition
execute on function webhook_due_exchange_partitions
execute on function webhook_due_partitions
execute on function webhook_end_rotations
execute on function webhook_erase_exchanges
execute on function webhook_forget_subscriptions
execute on function webhook_raise_alerts
execute on procedure webhook_create_partitions$$, E'\n')) as words
      union all select 'operator-cli',
        unnest(string_to_array($$select, insert, update (name, webhook_listeners_forbidden_at) on account
select on account_away
select on account_home
select, insert, update (schema_version, cost_maximum, cost_restore_rate) on api_client
select, insert, update (expires_at, revoked_at) on api_key
select on app_contracts
select on app_migration
select on app_process
select on application_function
select on audit_action
select, insert (actor_type, actor, address, request_id, action, subject, account_id, interface, details) on audit_entry
select on cell_split
select on contact_email
select on counted_coordinates
select on event_type
select (account_id, interface, mutation, key, secret_ciphertext, record_id), update (secret_ciphertext) on idempotency_key
select (only_row, cell, installation_id, key_self_service), update (key_self_service) on installation
select on interface
select on interface_use
select, insert on organization
select on organization_home
select on own_sequence
select on own_table
select on person_erasure
select on person_table
select, insert (account_id, interface, key_id, abilities, actor, return_url, subscription_id, link_hash, expires_at, invited_client_id, invited_abilities), update (expires_at) on portal_session
select on schema_migration
select on use_counting
select on webhook_attempt
select on webhook_deleted_backlog
select on webhook_delivery
select, insert (id, account_id, interface, event_type, snapshot, request_id, is_test, record_id) on webhook_event
select, insert (account_id, interface, event_id, subscription_id) on webhook_event_queue
select on webhook_exchange
select on webhook_failed_delivery
select on webhook_hour_statistics
select on webhook_payload
select on webhook_pending_delivery
select on webhook_receiver_state
select, insert (account_id, interface, subscription_id, delivery_id, event_types, only_failed, per_second, from_id, until_id, from_sequence, until_sequence, last_id), update (cancelled_at) on webhook_replay
select on webhook_retention
select on webhook_shard
select, update (url_number, secret_ciphertext, paused_reason, paused_at, next_secret_ciphertext, rotation_started_at, rotation_ends_at, owner_paused_at, hastened_at, send_pending_at, timeout_seconds, request_header_name, request_header_ciphertext, request_header_origin) on webhook_subscription
select on webhook_subscription_episode
select on webhook_subscription_event_type
select on webhook_subscription_sequence
select on webhook_worker
usage on sequence audit_entry_number
usage on sequence record_number
select, usage on sequence webhook_queue_position
execute on function advance_sequences
execute on function are_erased_deliveries_reread
execute on function are_valid
execute on function begin_person_erasure
execute on function check_foreign_partition
execute on function check_homes
execute on function close_copy
execute on function count_kept_of_person
execute on function delete_foreign_rows
execute on function drop_foreign_partition
execute on function end_erased_deliveries
execute on function end_person_erasure
execute on function erase_contact_emails
execute on function erase_person_events
execute on function expire_copied_deliveries
execute on function foreign_bytes
execute on function foreign_tables
execute on function forget_emptied_table
execute on function forget_keys_of_person
execute on function issue_api_key
execute on function maintain_audit_log
execute on function mark_erased_deliveries
execute on function new_record_id
execute on function person_accounts
execute on function person_addresses
execute on function person_addresses_by_account
execute on function person_row
execute on function placeholders_of
execute on function read_person_event
execute on function register_process
execute on function require_no_app
execute on function reread_erased_deliveries
execute on function revoke_api_key
execute on function sequence_states
execute on function store_app_contracts
execute on function update_contact_emails
execute on function webhook_delete_listener
execute on function webhook_delete_subscription
execute on function webhook_has_worker
execute on function webhook_sends_request_headers
execute on function webhook_unquiet_workers
execute on function webhook_workers_lacking
execute on function webhook_workers_without$$, E'\n'))
    ) g
    where to_regrole(quote_ident(role_name(g.app))) is not null
  loop
    execute format('grant %s to %s', own.words, own.own_role);
  end loop;
end
$do$;

-- -----------------------------------------------------------------------------------------------------------------------------------------
-- Partitions
-- -----------------------------------------------------------------------------------------------------------------------------------------

-- Enough to start with. The worker keeps 60 days ahead.
call webhook_create_partitions(14);
select maintain_audit_log(400);
