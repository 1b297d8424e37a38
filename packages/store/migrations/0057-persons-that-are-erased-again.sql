-- A member who is renamed, and a referral that is declined, after the person was erased can be erased again: the functions of 0051
-- looked at one column.

do $do$
begin
  execute replace($schema$
    -- The row of a record: its account, whether it is erased, and how many saved results contain it. Null if there is none.
    create or replace function person_row(of_record_type text, of_record_id bigint) returns jsonb
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select jsonb_build_object(
        'accountId', account_id::text, 'isErased', is_erased,
        'savedResults', (select count(*) from {schema}.person_results(of_record_type, of_record_id))
      )
      from (
        select account_id, (first_name, last_name, email) = (placeholder, placeholder, placeholder || '@erased.invalid') as is_erased
        from {schema}.team_member, concat('erased-', id) placeholder
        where of_record_type = 'TeamMember' and id = of_record_id
        union all
        select account_id,
          client_name = 'erased-' || id and num_nonnulls(client_email, external_reference, note, decline_reason) = 0
        from {schema}.referral
        where of_record_type = 'Referral' and id = of_record_id
      ) r
    $$;

    -- Begins to erase the person of a record, whose row can be gone, and replaces what identifies in the row. The placeholders are
    -- those of `placeholderOf()` in packages/domain. Writes an entry of the audit log, for which the transaction can set
    -- `deedwire.audit_claim` as for audit_change().
    create or replace function begin_person_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      placeholder constant text := 'erased-' || of_record_id;
    begin
      insert into {schema}.person_erasure (record_type, record_id, account_id, interface)
      select of_record_type, of_record_id, id, interface
      from {schema}.account
      where id = of_account_id and interface::text = case of_record_type when 'TeamMember' then 'lender' else 'partner' end
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
      -- A key can contain the address. Its client must not create the referral again with one that does not.
      delete from {schema}.idempotency_key k
      using {schema}.person_results(of_record_type, of_record_id) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key)
        and strpos(lower(k.key), lower(r.payload ->> 'clientEmail')) > 0;
      update {schema}.idempotency_key k
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      from {schema}.person_results(of_record_type, of_record_id) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key);
      if of_record_type = 'TeamMember' then
        update {schema}.team_member
        set first_name = placeholder, last_name = placeholder, email = placeholder || '@erased.invalid'
        where id = of_record_id and account_id = of_account_id;
      else
        update {schema}.referral
        set client_name = placeholder, client_email = null, external_reference = null, note = null, decline_reason = null
        where id = of_record_id and account_id = of_account_id;
      end if;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;
