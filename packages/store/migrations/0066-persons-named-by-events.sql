-- An interface can store an event about any record of any of its accounts, with any snapshot. `deedwire-operator person erase` believes no
-- more of one than the row of the record confirms, and no event can stop it.

-- `json` accepts "\u0000" and half of a surrogate pair, which make every statement fail that reads the snapshot. New events only.
alter table webhook_event add constraint webhook_event_is_jsonb check (snapshot is null or snapshot::jsonb is not null) not valid;

-- An event of another account could name the account of an erasure, which then never ended.
delete from person_erasure p
where exists (
  select from team_member t where p.record_type = 'TeamMember' and t.id = p.record_id and t.account_id <> p.account_id
  union all
  select from referral r where p.record_type = 'Referral' and r.id = p.record_id and r.account_id <> p.account_id
);

do $do$
declare
  definition text;
  beginning constant text := format('insert into %I.person_erasure', current_schema());
begin
  execute replace($schema$
    -- What an event that identifies a person says: `recordId`, the `address` of a team member, and with `problem` what cannot be read.
    create function read_person_event(of_event_type text, of_record_id bigint, snapshot json) returns jsonb
    language plpgsql immutable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      address_max constant int := 254;
      of_member constant boolean := of_event_type like 'team\_member.%';
      record_type constant text := case when of_member then 'TeamMember' else 'Referral' end;
      record_id text := case when of_record_id > 0 then of_record_id end;
      person jsonb;
      address text;
    begin
      begin
        person := snapshot::jsonb -> case when of_member then 'teamMember' else 'referral' end;
      exception when others then
        return jsonb_build_object('recordId', record_id, 'problem', 'its snapshot is no jsonb: ' || sqlerrm);
      end;
      if of_record_id is null then
        record_id := substring(person ->> 'id' from '/' || record_type || '/([1-9][0-9]{0,18})$');
        if record_id::numeric > 9223372036854775807 then
          record_id := null;
        end if;
      end if;
      if of_member and jsonb_typeof(person -> 'email') = 'string' and length(person ->> 'email') <= address_max then
        address := person ->> 'email';
      end if;
      return jsonb_build_object('recordId', record_id, 'address', address, 'problem', case
        when record_id is null then 'it has no id of a ' || record_type
        when of_member and address is null then format('it has no address of at most %s characters', address_max)
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
        where p.account_id = of_account_id
          and split_part(of_event_type, '.', 1) = case p.record_type when 'TeamMember' then 'team_member' else 'referral' end
          and case
            when of_record_id is not null then of_record_id = p.record_id
            -- It was erased before.
            when snapshot::text = '{}' then true
            else {schema}.read_person_event(of_event_type, null, snapshot) ->> 'recordId' = p.record_id::text
          end
      )
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  definition := pg_get_functiondef('begin_person_erasure'::regproc);
  if cardinality(string_to_array(definition, beginning)) <> 2 then
    raise exception 'The function begin_person_erasure is not that of an earlier migration.';
  end if;
  execute replace(definition, beginning, format($$if (%1$I.person_row(of_record_type, of_record_id) ->> 'accountId')::bigint <> of_account_id
        or exists (
          select
          from %1$I.person_erasure
          where record_type = of_record_type and record_id = of_record_id and account_id <> of_account_id
        )
      then
        raise exception 'The %% %% is of another account than %%, or its erasure with another account has not ended.',
          of_record_type, of_record_id, of_account_id;
      end if;
      $$, current_schema()) || beginning);
end
$do$;

revoke execute on function read_person_event from public;
grant execute on function read_person_event to operator;
