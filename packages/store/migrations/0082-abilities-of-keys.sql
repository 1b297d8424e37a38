-- What an API key may do. A key from before there were abilities can still do everything that it could.

-- A constant default: no row is written.
alter table api_key add column abilities text[] not null
  default array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE'];
-- Of a key that is written without abilities: by the operator's commands of the last release, or by the replication of a cell that has
-- it. No command of this release writes them in this order, by which the trigger recognizes such a key.
alter table api_key alter column abilities
  set default array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ'];
alter table api_key add constraint api_key_abilities_bounds check (
  array_ndims(abilities) = 1 and abilities @> array['READ']
  -- Each at most once, and no others.
  and cardinality(abilities) = ('READ' = any (abilities))::int + ('READ_PAYLOAD' = any (abilities))::int
    + ('OPERATE' = any (abilities))::int + ('CONFIGURE' = any (abilities))::int + ('WRITE' = any (abilities))::int
    + ('MANAGE_KEYS' = any (abilities))::int
  and (abilities @> array['READ_PAYLOAD'] or not abilities @> array['CONFIGURE'])
) not valid;

do $do$
declare
  definition text := pg_get_functiondef('check_portal_session'::regproc);
  place constant text := '-- Requests of the portal have the version of its pages.';
begin
  execute replace($schema$
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
      if new.abilities <> array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ'] then
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
  $schema$, '{schema}', quote_ident(current_schema()));

  if cardinality(string_to_array(definition, place)) <> 2 then
    raise exception 'The function check_portal_session is not that of an earlier migration.';
  end if;
  execute replace(definition, place, replace($$if exists (
        select from {schema}.api_key k where k.key_id = new.key_id and not k.abilities @> new.abilities
      ) then
        raise exception 'The link has abilities that its key % does not have.', new.key_id using errcode = 'insufficient_privilege';
      end if;
      -- Requests of the portal have the version of its pages.$$, '{schema}', quote_ident(current_schema())));
end
$do$;

revoke execute on function check_api_key from public;

create trigger check_api_key before insert on api_key
  for each row execute function check_api_key();
-- All columns except `last_used_at`, as before.
create or replace trigger audit_update
  after update of key_id, api_client_id, interface, key_hash, created_at, expires_at, revoked_at, abilities on api_key
  for each row when (old.* is distinct from new.*) execute function audit_change();
