-- Sessions of the portal that manage API keys, and invites: links of an operator with which a client gets its first key. Apps of the last
-- release create neither. In them, the session of an invite only reads.

alter table portal_session
  -- Of an invite: the client whose keys the session manages, and what these can have at most. Null: both are those of the key of the link.
  add column invited_client_id bigint,
  add column invited_abilities text[],
  add constraint portal_session_invited_client_id_fkey
    foreign key (invited_client_id, interface) references api_client (id, interface) not valid,
  -- As of api_key.
  add constraint portal_session_invited_abilities_bounds check (
    array_ndims(invited_abilities) = 1 and invited_abilities @> array['READ']
    and cardinality(invited_abilities) = ('READ' = any (invited_abilities))::int + ('READ_PAYLOAD' = any (invited_abilities))::int
      + ('OPERATE' = any (invited_abilities))::int + ('CONFIGURE' = any (invited_abilities))::int
      + ('WRITE' = any (invited_abilities))::int + ('MANAGE_KEYS' = any (invited_abilities))::int
    and (invited_abilities @> array['READ_PAYLOAD'] or not invited_abilities @> array['CONFIGURE'])
  ) not valid,
  -- An invite does nothing but manage keys and read. Another session that manages keys has those of a key.
  add constraint portal_session_invite_check check (
    case
      when invited_client_id is null then
        invited_abilities is null and (key_id is not null or not abilities @> array['MANAGE_KEYS'])
      else
        invited_abilities is not null and key_id is null
        and abilities @> array['READ', 'MANAGE_KEYS'] and abilities <@ array['READ', 'MANAGE_KEYS']
    end
  ) not valid,
  drop constraint portal_session_abilities_bounds,
  add constraint portal_session_abilities_bounds check (
    abilities <@ array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'MANAGE_KEYS'] and cardinality(abilities) between 1 and 5
  ) not valid;

-- No app creates an invite.
grant insert (invited_client_id, invited_abilities) on portal_session to operator;

do $do$
declare
  change record;
  definition text;
begin
  for change in
    select *
    from (values
      ('check_portal_session', $$now() + interval '10 minutes'$$,
        $$now() + case when new.invited_client_id is null then interval '10 minutes' else interval '7 days' end$$),
      ('check_portal_session', '-- Requests of the portal have the version of its pages.',
        $$if new.invited_client_id is not null and (not {schema}.session_is_operator() or not exists (
        select
        from {schema}.api_client c
        where c.id = new.invited_client_id and c.account_id = new.account_id and c.interface = new.interface
          and c.client_id <> portal_client
      )) then
        raise exception 'The account % cannot invite to the keys of the client %.', new.account_id, new.invited_client_id
          using errcode = 'insufficient_privilege';
      end if;
      -- Requests of the portal have the version of its pages.$$),
      ('audit_portal_session', $$'command', left(claim ->> 'command', 100)$$,
        $$'clientId', (select c.client_id from {schema}.api_client c where c.id = new.invited_client_id),
            'keyAbilities', case when tg_op = 'INSERT' then new.invited_abilities end, 'command', left(claim ->> 'command', 100)$$),
      ('acting_on_keys', 'if not found then',
        $$if not found and not (
        session.invited_client_id is not null and pg_has_role(session_user, {schema}.role_of_interface(session.interface), 'member')
      ) then$$),
      ('acting_on_keys', 'return query select acting.api_client_id,',
        'return query select coalesce(session.invited_client_id, acting.api_client_id),'),
      ('acting_on_keys', 'case when acting_session is null then acting.abilities',
        $$case when acting_session is null then acting.abilities
          when session.invited_client_id is not null then session.invited_abilities$$),
      -- An invite has no key.
      ('issue_api_key', 'and k.created_by_key is not null', 'and (k.created_by_key is not null or k.created_by_actor is not null)')
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;
