-- What `deedwire-operator person erase` left: samples of tables that became empty, and idempotency keys that contain the name or, in the
-- locale of the database, another case of the address.
do $do$
begin
  execute replace(replace($schema$
    -- Deletes the keys of a referral that contain its address or its name. Compares letters and digits only, and first lower-cases ASCII:
    -- in a Turkish locale, "I" is not a capital "i". Before begin_person_erasure(), which erases the results.
    create function forget_keys_of_person(of_record_type text, of_record_id bigint) returns void
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.idempotency_key k
      using (
        select r.*, regexp_replace(lower(lower(t.text collate "C") collate "default"), '[^[:alnum:]]', '', 'g') as text
        from {schema}.person_results(of_record_type, of_record_id) r,
          unnest(array[r.payload ->> 'clientEmail', r.payload ->> 'clientName']) t (text)
      ) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key) and r.text <> ''
        and strpos(regexp_replace(lower(lower(k.key collate "C") collate "default"), '[^[:alnum:]]', '', 'g'), r.text) > 0
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
        then to_regclass(format('%I.%I', {schema name}, of_table)) end;
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
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));
end
$do$;

revoke execute on function forget_emptied_table, forget_keys_of_person from public;
grant execute on function forget_emptied_table, forget_keys_of_person to operator;
