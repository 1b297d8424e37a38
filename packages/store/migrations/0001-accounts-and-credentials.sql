-- Record ids, organizations, accounts, their team members and referrals, and the credentials of their API clients.

-- One group role for each app. The operator makes the login of an app a member of its group role, which grants only what
-- the app needs. Roles belong to the whole PostgreSQL cluster: the migration of another database may have created them, or
-- may be creating them at this moment.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['lender_api', 'partner_api', 'webhook_worker', 'operator'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
end
$$;

-- The identity of this database. The migrator sets `deedwire.cell`. The row never changes: the ids of all records contain
-- the cell, and new_record_id() contains both numbers.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- Two databases whose records may meet need different cells.
  cell smallint not null check (cell between 0 and 1023),
  -- Hides from clients how many ids were drawn between two of theirs. All 64 bits are random: a UUID has its fixed bits in
  -- the middle.
  id_seed bigint not null
);

insert into installation (cell, id_seed)
select coalesce(nullif(current_setting('deedwire.cell', true), ''), '0')::smallint,
  ('x' || left(uuid, 8) || right(uuid, 8))::bit(64)::bigint
from (select gen_random_uuid()::text as uuid) as random;

-- Counts the ids of all tables. It must not be cached: sessions would count within one millisecond from distant numbers.
create sequence record_number cache 1;

-- Draws the id of a record. From the highest bit: 41 bits milliseconds since 2026-01-01T00:00Z (until 2095), 10 bits cell,
-- 12 bits counter, which starts each millisecond at an unpredictable number.
--
-- An id repeats only if the server's clock is set back: no server draws 4,096 numbers in one millisecond, and the clock is
-- read before and after the number, so that the number was drawn in the millisecond that the id names. The last of 8 tries
-- counts in any case, so that a server on which a number takes longer than that still draws ids.
--
-- The cell and the seed are literals. An id would cost three times as much if the function read them from the table.
-- The parentheses matter: PostgreSQL gives `<<`, `|` and `&` the same precedence.
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
        number := nextval('record_number');
        exit when ms = floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - 1767225600000;
      end loop;
      if ms not between 1 and 2199023255551 then
        raise exception 'The clock of the database server is at %%. Record ids need a time from 2026 to 2095.',
          clock_timestamp();
      end if;
      return (ms << 22) | %s | ((number + (hashint8extended(ms, %L::bigint) & 4095)) & 4095);
    end
    $function$
  $format$, own.cell::bigint << 12, own.id_seed);
end
$do$;

-- Numbers matters, for their references. It never restarts.
create sequence matter_number;

create type interface_name as enum ('lender', 'partner');

create table organization (
  id bigint primary key default new_record_id(),
  name text not null,
  created_at timestamptz(3) not null default now()
);

-- A lender or a partner, depending on `interface`.
create table account (
  id bigint primary key default new_record_id(),
  interface interface_name not null,
  organization_id bigint not null references organization,
  name text not null,
  created_at timestamptz(3) not null default now(),
  -- Rows that belong to an account, and their children, repeat its interface for row-level security. Every foreign key
  -- between such tables contains the interface, so that no role can attach a row to a record of the other interface.
  unique (id, interface)
);

create table team_member (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'lender' check (interface = 'lender'),
  first_name text not null,
  last_name text not null,
  email text not null,
  created_at timestamptz(3) not null default now(),
  foreign key (account_id, interface) references account (id, interface)
);
create index team_member_by_account on team_member (account_id, id);
create unique index team_member_email on team_member (account_id, lower(email));

create table referral (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'partner' check (interface = 'partner'),
  status text not null default 'OPEN' check (status in ('OPEN', 'CONVERTED', 'DECLINED')),
  client_name text not null,
  client_email text,
  external_reference text,
  note text,
  created_at timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  decline_reason text,
  foreign key (account_id, interface) references account (id, interface),
  check ((status = 'OPEN') = (closed_at is null))
);
create index referral_by_account on referral (account_id, id);
create index referral_by_account_and_status on referral (account_id, status, id);

-- A matter belongs to a referral, so it can only belong to a partner.
create table matter (
  id bigint primary key default new_record_id(),
  referral_id bigint not null unique references referral,
  reference text not null unique,
  opened_at timestamptz(3) not null default now()
);

create table api_client (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null,
  -- The value of the header X-Service-Client-Id.
  client_id text not null unique,
  -- The interface version of requests that name no version. Never null: an unpinned client would change version with each
  -- release.
  schema_version text not null,
  created_at timestamptz(3) not null default now(),
  foreign key (account_id, interface) references account (id, interface),
  -- For the foreign key of api_key.
  unique (id, interface)
);
create index api_client_by_account on api_client (account_id, id);

create table api_key (
  key_id text primary key,
  api_client_id bigint not null,
  interface interface_name not null,
  -- SHA-256 of the complete key.
  key_hash bytea not null check (length(key_hash) = 32),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Updated at most once a minute.
  last_used_at timestamptz(3),
  foreign key (api_client_id, interface) references api_client (id, interface)
);
create index api_key_by_client on api_key (api_client_id, created_at);

create table idempotency_key (
  account_id bigint not null,
  interface interface_name not null,
  mutation text not null,
  key text not null,
  -- SHA-256 of the mutation's input in canonical form.
  input_hash bytea not null,
  -- The request that holds the key. Another request can take over an expired claim, whose process has died.
  claim uuid not null,
  claimed_until timestamptz(3) not null,
  -- The payload to return when the request is repeated. Null while the first request is in progress.
  payload jsonb,
  -- The encrypted secret in the payload. Null if the payload contains no secret.
  secret_ciphertext bytea,
  -- The record that the request created. Null if no record of the mutation can be deleted.
  record_id bigint,
  -- The record was deleted. The row then keeps only the fact that the key was used.
  record_deleted boolean not null default false,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, mutation, key),
  foreign key (account_id, interface) references account (id, interface)
);
create index idempotency_key_by_age on idempotency_key (created_at);

-- Deletes up to `batch` keys that are older than 24 hours, and returns their number. It runs with the rights of the owner, so
-- that the worker needs no right to read them.
create function delete_expired_idempotency_keys(batch int) returns bigint
language sql
security definer
set search_path = public, pg_temp
as $$
  with expired as (
    select account_id, mutation, key
    from idempotency_key
    where created_at < now() - interval '24 hours'
    order by created_at
    limit batch
    for update skip locked
  ), deleted as (
    delete from idempotency_key k
    using expired e
    where k.account_id = e.account_id and k.mutation = e.mutation and k.key = e.key
    returning 1
  )
  select count(*) from deleted
$$;
revoke execute on function delete_expired_idempotency_keys from public;

alter table account enable row level security;
alter table team_member enable row level security;
alter table referral enable row level security;
alter table api_client enable row level security;
alter table api_key enable row level security;
alter table idempotency_key enable row level security;

create policy lender_api on account to lender_api using (interface = 'lender');
create policy lender_api on team_member to lender_api using (interface = 'lender');
create policy lender_api on api_client to lender_api using (interface = 'lender');
create policy lender_api on api_key to lender_api using (interface = 'lender');
create policy lender_api on idempotency_key to lender_api using (interface = 'lender');
create policy partner_api on account to partner_api using (interface = 'partner');
create policy partner_api on referral to partner_api using (interface = 'partner');
create policy partner_api on api_client to partner_api using (interface = 'partner');
create policy partner_api on api_key to partner_api using (interface = 'partner');
create policy partner_api on idempotency_key to partner_api using (interface = 'partner');
create policy operator on account to operator using (true);
create policy operator on team_member to operator using (true);
create policy operator on referral to operator using (true);
create policy operator on api_client to operator using (true);
create policy operator on api_key to operator using (true);

grant select on schema_migration to lender_api, partner_api, webhook_worker, operator;

grant select on account, api_client, api_key to lender_api, partner_api;
grant update (last_used_at) on api_key to lender_api, partner_api;
grant select, insert, update, delete on idempotency_key to lender_api, partner_api;
grant select on team_member to lender_api;
grant select, insert on referral to partner_api;
grant select on matter to partner_api;

grant select, insert on organization, matter to operator;
grant select, insert, update on account, referral, api_client, api_key to operator;
grant select, insert, update, delete on team_member to operator;

-- Inserting a record draws its id.
grant usage on sequence record_number to lender_api, partner_api, webhook_worker, operator;
grant usage on sequence matter_number to operator;

grant execute on function delete_expired_idempotency_keys to webhook_worker;
