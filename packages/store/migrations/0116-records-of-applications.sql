-- `person erase` also erases what events say of records whose ids an application gives. `record_id` has 63 bits of a hash of these ids,
-- which two records can share, and records of two accounts can have one id.

alter table person_erasure
  -- The id that the application gave. Null: `record_id` is the id.
  add column record_key text,
  add constraint person_erasure_record_key_bounds check (octet_length(record_key) between 1 and 200) not valid,
  drop constraint person_erasure_pkey,
  -- Few rows, which only `person erase` writes.
  -- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
  add constraint person_erasure_pkey primary key (record_type, record_id, account_id);

do $do$
begin
  execute replace($schema$
    -- Begins to erase the person of a record, whose row can be gone, and replaces what identifies in the row. Writes an entry of the audit
    -- log, for which the transaction can set `deedwire.audit_claim` as for audit_change(). After forget_keys_of_person(), which needs the
    -- results. With a key, the record has no row, and `of_subject` names it in the entry.
    create function begin_record_erasure(
      of_record_type text, of_record_id bigint, of_account_id bigint, of_record_key text, of_subject text
    ) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      own record;
    begin
      if of_record_key is null and exists (
        select from {schema}.find_person(of_record_type, of_record_id) r where r.account_id <> of_account_id
        union all
        select
        from {schema}.person_erasure e
        where e.record_type = of_record_type and e.record_id = of_record_id and e.account_id <> of_account_id
      ) then
        raise exception 'The % % is of another account than %, or its erasure with another account has not ended.',
          of_record_type, of_record_id, of_account_id;
      end if;
      insert into {schema}.person_erasure (record_type, record_id, account_id, interface, record_key)
      select of_record_type, of_record_id, a.id, a.interface, of_record_key
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
          left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), 'person.erase',
          coalesce(of_subject, of_record_type || '/' || of_record_id), id, interface,
          jsonb_strip_nulls(jsonb_build_object('command', left(claim ->> 'command', 100)))
        from {schema}.account
        where id = of_account_id;
      end if;
      if of_record_key is not null then
        return;
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

    -- For the command line of the last release.
    create or replace function begin_person_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select {schema}.begin_record_erasure(of_record_type, of_record_id, of_account_id, null, null)
    $$;

    create function end_record_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.person_erasure
      where record_type = of_record_type and record_id = of_record_id and account_id = of_account_id
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function begin_record_erasure, end_record_erasure from public;
select for_app('operator-cli', 'grant execute on function begin_record_erasure, end_record_erasure to {role}');
