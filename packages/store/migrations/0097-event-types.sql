-- What the database knows of the events of a service. `deedwire-operator database migrate` writes it. Rows are never deleted, and what they
-- allow only grows, so that an application of an earlier release continues.

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

do $do$
declare
  app text;
begin
  insert into shared_right
  values ('select on event_type'), ('select on interface'), ('select on own_sequence'), ('select on own_table');
  for app in
    select a.role
    from (select role_of_interface(name) from interface union all values ('webhook_worker'), ('operator')) as a (role)
    where to_regrole(quote_ident(a.role)) is not null
  loop
    execute format('grant select on event_type, interface, own_sequence, own_table to %I', app);
  end loop;

  execute replace(replace($schema$
    -- As before, of what exists: a later migration can have dropped it. A longer number, which an interface may have written, counts as none.
    create or replace function own_sequence_states() returns table (sequence text, last_number bigint, highest_used bigint)
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
  $schema$, '{schema}', quote_ident(current_schema())), '{schema_text}', quote_literal(current_schema()));
end
$do$;
