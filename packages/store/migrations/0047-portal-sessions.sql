-- Sessions of the portal. Apps of the last release neither create nor read them.

-- A link, which becomes the session of the browser that exchanges its token.
create table portal_session (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null,
  -- The client of the portal for the account. It has no keys, and its own points. The trigger sets it.
  api_client_id bigint not null,
  -- The key that created the link: the session ends with it. Null: an operator has created the link.
  key_id text references api_key constraint portal_session_key_id_bounds check (octet_length(key_id) <= 100),
  abilities text[] not null constraint portal_session_abilities_bounds check (
    abilities <@ array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'] and cardinality(abilities) between 1 and 4
  ),
  -- Chosen by the account, for its audit.
  actor text not null constraint portal_session_actor_bounds check (char_length(actor) <= 100),
  return_url text constraint portal_session_return_url_bounds check (char_length(return_url) <= 2048),
  -- The page that the session begins with. It restricts nothing, and the subscription can be deleted.
  subscription_id bigint constraint portal_session_subscription_id_bounds check (subscription_id > 0),
  -- SHA-256 of the token of the link, and of the cookie. The second one is null until the exchange.
  link_hash bytea not null unique constraint portal_session_link_hash_bounds check (octet_length(link_hash) = 32),
  token_hash bytea unique constraint portal_session_token_hash_bounds check (octet_length(token_hash) = 32),
  -- Of the link, and from the exchange on of the session. The end of a session sets it to the past.
  expires_at timestamptz(3) not null
    constraint portal_session_expires_at_bounds check (expires_at between '1970-01-01Z' and '9999-12-31Z'),
  started_at timestamptz(3)
    constraint portal_session_started_at_bounds check (started_at between '1970-01-01Z' and '9999-12-31Z'),
  -- Written at most once a minute.
  last_used_at timestamptz(3)
    constraint portal_session_last_used_at_bounds check (last_used_at between '1970-01-01Z' and '9999-12-31Z'),
  foreign key (account_id, interface) references account (id, interface),
  foreign key (api_client_id, interface) references api_client (id, interface),
  check ((token_hash is null) = (started_at is null) and (token_hash is null) = (last_used_at is null))
);
create index portal_session_by_account on portal_session (account_id, id) where token_hash is not null;
-- Counts the links of an account that can be used.
create index portal_session_unused_by_account on portal_session (account_id, expires_at) where token_hash is null;
-- Serves delete_expired_portal_sessions().
create index portal_session_by_expiry on portal_session (expires_at);

alter table portal_session enable row level security;
-- Only an operator creates a session that no key ends.
create policy lender_api_insert on portal_session for insert to lender_api
  with check (interface = 'lender' and key_id is not null);
create policy lender_api_select on portal_session for select to lender_api using (interface = 'lender');
create policy lender_api_update on portal_session for update to lender_api using (interface = 'lender');
create policy partner_api_insert on portal_session for insert to partner_api
  with check (interface = 'partner' and key_id is not null);
create policy partner_api_select on portal_session for select to partner_api using (interface = 'partner');
create policy partner_api_update on portal_session for update to partner_api using (interface = 'partner');
create policy operator on portal_session to operator using (true);

grant select, insert (account_id, interface, key_id, abilities, actor, return_url, subscription_id, link_hash, expires_at)
  on portal_session to lender_api, partner_api, operator;
grant update (token_hash, started_at, last_used_at, expires_at) on portal_session to lender_api, partner_api;
grant update (expires_at) on portal_session to operator;

do $do$
begin
  execute replace($schema$
    -- Creates the client of the account with its first link, because an interface cannot create clients. Compares the account of
    -- the key. Whatever a login writes, a link lives 10 minutes and a session 8 hours, which begin once, and an end is final.
    create function check_portal_session() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      portal_client constant text := 'portal_' || new.interface || '_' || new.account_id;
    begin
      if tg_op = 'UPDATE' then
        if old.expires_at <= now() then
          raise exception 'The session % has ended.', old.id using errcode = 'insufficient_privilege';
        end if;
        if new.last_used_at > now() then
          new.last_used_at := now();
        end if;
        if old.token_hash is null and new.token_hash is not null then
          new.started_at := now();
          new.expires_at := least(new.expires_at, now() + interval '8 hours');
          -- Otherwise sessions that start at the same time would not count each other. Of the logins, only the operator can lock
          -- this row for longer.
          perform from {schema}.api_client where id = new.api_client_id for no key update;
        elsif new.token_hash is distinct from old.token_hash or new.started_at is distinct from old.started_at
          or new.expires_at > old.expires_at then
          raise exception 'The session % can only end, earlier than before.', old.id using errcode = 'insufficient_privilege';
        end if;
        return new;
      end if;
      new.expires_at := least(new.expires_at, now() + interval '10 minutes');
      if new.key_id is not null and not exists (
        select
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = new.key_id and c.account_id = new.account_id and c.interface = new.interface
      ) then
        raise exception 'The account % has no key %.', new.account_id, new.key_id using errcode = 'insufficient_privilege';
      end if;
      -- Requests of the portal have the version of its pages.
      insert into {schema}.api_client (account_id, interface, client_id, schema_version)
      select new.account_id, new.interface, portal_client, 'portal'
      where not exists (select from {schema}.api_client where client_id = portal_client)
      on conflict (client_id) do nothing;
      select id into new.api_client_id from {schema}.api_client where client_id = portal_client;
      return new;
    end
    $$;

    -- Writes the entry of a link, of the start and of the end of a session. The transaction can set `deedwire.audit_claim` as for
    -- audit_change(), or to a JSON object with `client`, `accountId`, `address`, `requestId` and `portal`: the claims of an
    -- account are not in the entries of another one.
    create function audit_portal_session() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      operator constant text := case when pg_has_role(session_user, 'operator', 'member') then claim ->> 'actor' end;
    begin
      if operator is null and claim ->> 'accountId' is distinct from new.account_id::text then
        claim := null;
      end if;
      insert into {schema}.audit_entry
        (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
      values
        (pg_current_xact_id(),
          case when operator is not null then 'OPERATOR' when claim ->> 'client' is not null then 'CLIENT' end,
          left(coalesce(operator, claim ->> 'client'), 250), left(claim ->> 'address', 250), left(claim ->> 'requestId', 250),
          case
            when tg_op = 'INSERT' then 'portal_link.create'
            when old.token_hash is distinct from new.token_hash then 'portal_session.start'
            else 'portal_session.end'
          end,
          'PortalSession/' || new.id, new.account_id, new.interface,
          jsonb_strip_nulls(jsonb_build_object(
            'actor', new.actor, 'abilities', case when tg_op = 'INSERT' then new.abilities end,
            'command', left(claim ->> 'command', 100), 'portal', claim -> 'portal'
          )));
      return null;
    end
    $$;

    -- Deletes up to `batch` links and sessions that expired more than a day ago, and returns their number.
    create function delete_expired_portal_sessions(batch int) returns bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with expired as (
        select id
        from {schema}.portal_session
        where expires_at < now() - interval '1 day'
        order by expires_at
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.portal_session s
        using expired e
        where s.id = e.id
        returning 1
      )
      select count(*) from deleted
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function check_portal_session, audit_portal_session, delete_expired_portal_sessions from public;
grant execute on function delete_expired_portal_sessions to webhook_worker;

create trigger check_portal_session before insert or update on portal_session
  for each row execute function check_portal_session();
create trigger audit_insert after insert on portal_session
  for each row execute function audit_portal_session();
-- All columns except `last_used_at`.
create trigger audit_update after update of token_hash, expires_at on portal_session
  for each row when (old.token_hash is distinct from new.token_hash or old.expires_at > new.expires_at)
  execute function audit_portal_session();
