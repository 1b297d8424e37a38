-- `deedwire-operator person erase` asks the database which rows and events identify a person, and no longer names tables, columns and members
-- of the sample. `deedwire-operator database migrate` writes it. Before the first one of this release, it is what the sample has.

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
insert into person_table values
  ('referral', 'Referral', '{client_email,client_name,decline_reason,external_reference,note}', '{client_email}', '{clientEmail,clientName}'),
  ('team_member', 'TeamMember', '{email,first_name,last_name}', '{email}', '{}');
insert into event_type
select 'team_member.' || verb, '{lender}'::interface_name[], 'TeamMember',
  '{lender,lender.id,lender.name,teamMember,teamMember.email,teamMember.firstName,teamMember.id,teamMember.lastName}',
  '{teamMember.email,teamMember.firstName,teamMember.lastName}', '{teamMember.email}'::text[]
from unnest(array['added', 'updated', 'removed']) verb
union all
select 'referral.' || verb, '{partner}', 'Referral',
  required || array['referral', 'referral.externalReference', 'referral.id', 'referral.status'], persons || array['referral.externalReference'], '{}'
from (values
  ('created', '{}'::text[], '{}'::text[]),
  ('converted', '{convertedAt,matter,matter.id,matter.openedAt,matter.reference}', '{}'),
  ('declined', '{declinedAt,reason}', '{reason}')
) as events (verb, required, persons)
on conflict do nothing;

alter table person_erasure drop constraint person_erasure_record_type_bounds;

do $do$
declare
  app text;
begin
  insert into shared_right values ('select on person_table');
  for app in
    select a.role
    from (select role_of_interface(name) from interface union all values ('webhook_worker'), ('operator')) as a (role)
    where to_regrole(quote_ident(a.role)) is not null
  loop
    execute format('grant select on person_table to %I', app);
  end loop;

  execute replace(replace($schema$
    -- The columns that identify, of tables that exist and have the owner of the registry, and what replaces each in a row `t`: null or, where
    -- null is not allowed, a text that no other record has. The only rule of placeholders.
    create function person_columns(of_record_type text)
    returns table (relation text, column_name text, is_address boolean, replacement text)
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select p.relation, a.attname::text, a.attname = any (p.addresses), case
        when a.attnotnull or y.typnotnull
        then format('concat(''erased-'', t.id%s)', case when a.attname = any (p.addresses) then ', ''@erased.invalid''' end)
      end
      from {schema}.person_table p
      join {schema}.own_table o on o.relation = p.relation
      join pg_attribute a on a.attrelid = to_regclass(format('%I.%I', {schema_text}, p.relation)) and a.attname = any (p.columns)
        and not a.attisdropped and a.attgenerated = ''
      join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
        and c.relowner = (select relowner from pg_class where oid = '{schema}.person_table'::regclass)
      join pg_type y on y.oid = a.atttypid
      where p.record_type = of_record_type
    $$;

    -- The row of a record: its table, its account, and whether it is erased. No row if there is none.
    create function find_person(of_record_type text, of_record_id bigint)
    returns table (relation text, account_id bigint, is_erased boolean)
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
    create or replace function person_results(of_record_type text, of_record_id bigint)
    returns setof {schema}.idempotency_key
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select k.*
      from {schema}.find_person(of_record_type, of_record_id) r
      join {schema}.idempotency_key k on k.account_id = r.account_id
      where strpos(k.payload::text, format('/%s/%s"', of_record_type, of_record_id)) > 0
    $$;

    -- As before.
    create or replace function person_row(of_record_type text, of_record_id bigint) returns jsonb
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

    -- As before.
    create or replace function person_addresses(of_record_type text, after bigint) returns jsonb
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

    -- As before, by the members that are registered, of a result and of the objects in it. A path of any depth would be as deep as an
    -- interface likes.
    create or replace function forget_keys_of_person(of_record_type text, of_record_id bigint) returns void
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
    create or replace function begin_person_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
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

    -- What an event that identifies a person says: `recordId`, the `address` if its type has one, and with `problem` what cannot be read. An
    -- app of an early release stored no record beside the snapshot: then it is the one of its type that the snapshot has.
    create or replace function read_person_event(of_event_type text, of_record_id bigint, snapshot json) returns jsonb
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
    create or replace function is_of_erased_person(of_account_id bigint, of_event_type text, of_record_id bigint, snapshot json)
    returns boolean
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
  $schema$, '{schema}', quote_ident(current_schema())), '{schema_text}', quote_literal(current_schema()));
  revoke execute on function person_columns, find_person, person_accounts from public;
  if to_regrole('operator') is not null then
    grant execute on function person_accounts to operator;
  end if;
end
$do$;
