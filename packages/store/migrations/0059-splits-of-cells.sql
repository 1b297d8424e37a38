-- A cell splits: a standby of it is promoted, takes a number of its own and keeps the organizations that leave. Only the owner of the
-- tables splits cells, with `deedwire-operator cell split`.

-- Numbers of cells end at 1023.
-- squawk-ignore-file prefer-bigint-over-smallint

-- The splits of this cell. The new side has a copy of its row.
create table cell_split (
  id uuid primary key default gen_random_uuid(),
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
create unique index cell_split_open on cell_split ((true)) where activated_at is null and aborted_at is null;

-- As account_home, for the accounts that an organization would get.
create table organization_home (
  organization_id bigint primary key references organization,
  cell smallint not null check (cell between 0 and 1023),
  frozen_at timestamptz(3)
);

alter table cell_split enable row level security;
alter table organization_home enable row level security;
create policy operator on cell_split for select to operator using (true);
create policy operator on organization_home for select to operator using (true);
grant select on cell_split, organization_home to operator;
grant select (cell) on installation to operator;

do $do$
begin
  execute replace($schema$
    create function {schema}.refuse_account_elsewhere() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $function$
    declare
      home smallint := (select cell from {schema}.organization_home where organization_id = new.organization_id);
    begin
      if home is not null then
        raise exception 'The organization % belongs to the cell %. Create its account there, once it does not move.',
          new.organization_id, home using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end
    $function$;
    create trigger refuse_account_elsewhere before insert on {schema}.account
      for each row execute function {schema}.refuse_account_elsewhere();

    -- Gives the promoted side of the open split its own identity, while no app is connected: the number and the seed, which are
    -- literals of new_record_id(), and the id of the installation.
    create function {schema}.take_cell_number() returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $function$
    declare
      split {schema}.cell_split;
      own {schema}.installation;
      seed constant bigint := ('x' || right(gen_random_uuid()::text, 8) || left(gen_random_uuid()::text, 8))::bit(64)::bigint;
    begin
      select * into own from {schema}.installation for update;
      select * into split from {schema}.cell_split where activated_at is null and aborted_at is null and freeze_lsn is not null;
      if split.from_cell is distinct from own.cell then
        raise exception 'This database is not the new side of a split.';
      end if;
      if exists (
        select from pg_stat_activity
        where datname = current_database() and application_name like 'deedwire-%' and pid <> pg_backend_pid()
      ) then
        raise exception 'Apps are connected to the new side. Stop them, and try again.';
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
    $function$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function refuse_account_elsewhere, take_cell_number from public;
