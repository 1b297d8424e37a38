-- The audit log: who changed what, when and from where. It is written in the transaction of the change.

create sequence audit_entry_number;

create table audit_entry (
  -- The order of entries of the same time. It has gaps.
  number bigint not null default nextval('audit_entry_number'),
  at timestamptz(3) not null default now(),
  -- The login of the database session. Apps have no right to set this column or the two above.
  login text not null default session_user,
  actor_type text not null check (actor_type in ('OPERATOR', 'CLIENT')),
  -- The name of the operator, or the id of the API client.
  actor text not null,
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
  details jsonb not null default '{}',
  primary key (at, number),
  foreign key (account_id, interface) references account (id, interface),
  check ((account_id is null) = (interface is null))
) partition by range (at);

-- Receives the entries of a month without a partition, so that no change fails because a partition is missing.
create table audit_entry_default partition of audit_entry default;

alter table audit_entry enable row level security;

create policy lender_api on audit_entry for insert to lender_api
  with check (interface = 'lender' and actor_type = 'CLIENT');
create policy partner_api on audit_entry for insert to partner_api
  with check (interface = 'partner' and actor_type = 'CLIENT');
create policy operator_insert on audit_entry for insert to operator with check (actor_type = 'OPERATOR');
create policy operator_select on audit_entry for select to operator using (true);

grant insert (actor_type, actor, address, request_id, action, subject, account_id, interface, details)
  on audit_entry to lender_api, partner_api, operator;
grant select on audit_entry to operator;
grant usage on sequence audit_entry_number to lender_api, partner_api, operator;

-- Creates the partitions of this month and the next two, and deletes entries that are older than `keep_days`, by dropping
-- their partitions. It runs with the rights of the owner, so that apps need no right to delete entries. The minimum keeps a
-- compromised login from deleting its traces.
--
-- Both changes lock the table for a moment. The lock timeout keeps a long transaction from blocking all writers behind them;
-- the next call tries again.
create function maintain_audit_log(keep_days int) returns table (created text, dropped text)
language plpgsql
security definer
set search_path = public, pg_temp
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
  -- Any number that no other advisory lock of this database uses.
  if not pg_try_advisory_xact_lock(4301778) then
    return;
  end if;

  for month in
    select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '2 months', interval '1 month')
  loop
    partition_name := 'audit_entry_' || to_char(month, 'YYYY_MM');
    continue when to_regclass(partition_name) is not null;
    -- PostgreSQL rejects a partition whose rows are in the default partition. That month stays there.
    continue when exists (select from audit_entry_default where at >= month and at < month + interval '1 month');
    execute format(
      'create table %I partition of audit_entry for values from (%L) to (%L)',
      partition_name, month, month + interval '1 month'
    );
    created := partition_name;
    dropped := null;
    return next;
  end loop;

  for partition_name in
    select c.relname
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_entry'::regclass
      and c.relname ~ '^audit_entry_\d{4}_\d{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' < now() - make_interval(days => keep_days)
    order by c.relname
  loop
    execute format('drop table %I', partition_name);
    created := null;
    dropped := partition_name;
    return next;
  end loop;

  delete from audit_entry_default where at < now() - make_interval(days => keep_days);
end
$$;

revoke execute on function maintain_audit_log from public;
grant execute on function maintain_audit_log to webhook_worker, operator;

select maintain_audit_log(400);
