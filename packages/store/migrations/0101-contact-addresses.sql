-- Contact addresses of accounts, and mails to them about what alerts report. Workers of earlier releases send none.

-- Attempts and bounces are few.
-- squawk-ignore-file prefer-bigint-over-int

-- Whether the worker has a mail server. False for a worker of an earlier release, which does not write it.
alter table webhook_worker add column sends_mail boolean not null default false;

-- What identifies a person is here only, so that `person erase` has one row to delete.
create table contact_email (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null,
  -- As isContactEmail() checks it, for logins of interfaces too: with quotes or comments, one mailbox would have many addresses. In ASCII,
  -- so that every locale compares addresses alike.
  email text not null constraint contact_email_email_bounds check (
    octet_length(email) <= 254
    and email ~ '^[A-Za-z0-9_.!#$%&''*+/=?^`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?[.])+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$'
  ),
  created_at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3),
  -- How often in a row the mail server has refused the address, and when that was too often.
  bounces int not null default 0,
  stopped_at timestamptz(3),
  unsubscribed_from text[] not null default '{}' constraint contact_email_unsubscribed_from_bounds check (
    unsubscribed_from <@ array['DISRUPTED', 'PAUSED', 'RECOVERED', 'FAILED', 'KEY_EXPIRING']
  ),
  foreign key (account_id, interface) references account (id, interface)
);
create unique index contact_email_by_account on contact_email (account_id, lower(email collate "C"));
create index contact_email_unconfirmed on contact_email (created_at) where confirmed_at is null;
-- An erasure looks in all accounts.
create index contact_email_by_email on contact_email (lower(email collate "C"));
-- Statistics would keep samples of addresses that are erased.
alter table contact_email alter column email set statistics 0;
alter index contact_email_by_account alter column 2 set statistics 0;
alter index contact_email_by_email alter column 1 set statistics 0;

-- The confirmations that were asked for within a day: the limits count them.
create table contact_confirmation (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null,
  -- From contact_address_hash(). Of any account: an owner of many accounts must not send a person many mails.
  address_hash bytea not null constraint contact_confirmation_address_hash_bounds check (octet_length(address_hash) = 32),
  created_at timestamptz(3) not null default now(),
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_confirmation_by_account on contact_confirmation (account_id, created_at);
create index contact_confirmation_by_address on contact_confirmation (address_hash, created_at);
create index contact_confirmation_by_age on contact_confirmation (created_at);

-- A token in a link of a mail. Each attempt to send a mail has its own, because only the hash is stored: every copy that arrives works.
create table contact_token (
  -- SHA-256 of the token.
  token_hash bytea primary key constraint contact_token_token_hash_bounds check (octet_length(token_hash) = 32),
  contact_id bigint not null references contact_email on delete cascade,
  account_id bigint not null,
  interface interface_name not null,
  -- Null: the token confirms the address. Otherwise it ends mails with this subject.
  subject text,
  expires_at timestamptz(3) not null,
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_token_by_contact on contact_token (contact_id);
create index contact_token_by_account on contact_token (account_id);
create index contact_token_by_expiry on contact_token (expires_at);

-- A mail to send, or that was written in the last 3 days. Without texts of the account: names are read when it is sent.
create table contact_mail (
  -- Its Message-ID has it.
  id bigint primary key default new_record_id(),
  contact_id bigint not null references contact_email on delete cascade,
  account_id bigint not null,
  interface interface_name not null,
  subject text not null constraint contact_mail_subject_bounds check (
    subject in ('CONFIRMATION', 'DISRUPTED', 'PAUSED', 'RECOVERED', 'FAILED', 'KEY_EXPIRING')
  ),
  -- What it is about. The subscription or the key can be deleted.
  subscription_id bigint,
  key_id text,
  -- Of the alert, without the subscription or the key.
  data jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  -- What has begun, so a mail that was attempted never changes.
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  -- Null: it is to be sent.
  ended_at timestamptz(3),
  is_sent boolean not null default false,
  foreign key (account_id, interface) references account (id, interface)
);
create index contact_mail_due on contact_mail (next_attempt_at) where ended_at is null;
create index contact_mail_by_contact on contact_mail (contact_id, coalesce(subscription_id::text, key_id), subject);
create index contact_mail_by_account on contact_mail (account_id);
create index contact_mail_by_age on contact_mail (created_at);

alter table contact_email enable row level security;
alter table contact_confirmation enable row level security;
alter table contact_token enable row level security;
alter table contact_mail enable row level security;
create policy operator on contact_email for select to operator using (true);
grant select on contact_email to operator;

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- Of an address without what follows a "+", and without dots before the "@": for many servers, it is the same mailbox. Salted, so that no
    -- other database has the hash.
    create function contact_address_hash(email text) returns bytea
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select sha256(convert_to(
        installation_id::text || ' ' || lower(replace(split_part(split_part(email, '@', 1), '+', 1), '.', '') || '@' || split_part(email, '@', 2) collate "C"),
        'UTF8'
      ))
      from {schema}.installation
    $$;

    -- Writes an entry of the audit log about a contact address, without the address.
    create function audit_contact(contact {schema}.contact_email, action text, details jsonb) returns void
    language sql
    set search_path = pg_catalog, pg_temp
    as $$
      insert into {schema}.audit_entry (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
      select pg_current_xact_id(), case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250),
        left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), audit_contact.action, 'ContactEmail/' || contact.id,
        contact.account_id, contact.interface,
        details || jsonb_strip_nulls(jsonb_build_object('command', left(claim ->> 'command', 100)))
      from (
        select case when {schema}.session_is_operator() then nullif(current_setting('deedwire.audit_claim', true), '')::jsonb end as claim
      ) c
    $$;

    -- Replaces the contact addresses of an account, and has a confirmation sent to each that is not confirmed and got none within 10
    -- minutes. Returns why nothing was changed, or null. `has_portal`: whether a portal serves the links.
    create function update_contact_emails(of_account bigint, emails text[], has_portal boolean) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      addresses_max constant int := 5;
      of_account_max constant int := 10;
      of_address_max constant int := 3;
      again_after constant interval := '10 minutes';
      own {schema}.account;
      wanted text[];
      due text[];
      each bytea;
    begin
      -- Two updates of an account take turns.
      select * into own from {schema}.account a where a.id = of_account and {schema}.session_sees_account(a.id) for no key update;
      if not found then
        return 'NO_ACCOUNT';
      end if;
      perform {schema}.check_homes(array[of_account]);
      wanted := array(select distinct on (lower(e collate "C")) e from unnest(emails) e order by lower(e collate "C"), e);
      if cardinality(wanted) > addresses_max then
        raise exception 'An account has at most % contact addresses, not %.', addresses_max, cardinality(wanted)
          using errcode = 'insufficient_privilege';
      end if;
      due := array(
        select e
        from unnest(wanted) e
        left join {schema}.contact_email c on c.account_id = of_account and lower(c.email collate "C") = lower(e collate "C")
        where c.id is null or c.confirmed_at is null and c.stopped_at is null and not exists (
          select from {schema}.contact_mail m
          where m.contact_id = c.id and m.subject = 'CONFIRMATION' and m.created_at > now() - again_after
        )
      );
      if cardinality(due) > 0 then
        if has_portal is not true or not exists (
          select from {schema}.webhook_worker w where w.alive and w.leased_until > clock_timestamp() and w.sends_mail
        ) then
          return 'MAIL_UNAVAILABLE';
        end if;
        if cardinality(due) + (
          select count(*) from {schema}.contact_confirmation n where n.account_id = of_account and n.created_at > now() - interval '1 day'
        ) > of_account_max then
          return 'ACCOUNT_LIMIT';
        end if;
        -- Other accounts can ask for the same address. In one order, so that none waits for another in a circle.
        for each in select distinct {schema}.contact_address_hash(e) h from unnest(due) e order by h loop
          perform pg_advisory_xact_lock(hashtextextended('contact ' || encode(each, 'hex'), 0));
          if (
            select count(*) from {schema}.contact_confirmation n where n.address_hash = each and n.created_at > now() - interval '1 day'
          ) + (select count(*) from unnest(due) e where {schema}.contact_address_hash(e) = each) > of_address_max then
            return 'ADDRESS_LIMIT';
          end if;
        end loop;
      end if;
      delete from {schema}.contact_email c
      where c.account_id = of_account and lower(c.email collate "C") <> all (array(select lower(e collate "C") from unnest(wanted) e));
      insert into {schema}.contact_email (account_id, interface, email)
      select own.id, own.interface, e from unnest(due) e
      on conflict (account_id, lower(email collate "C")) do nothing;
      insert into {schema}.contact_mail (contact_id, account_id, interface, subject)
      select c.id, c.account_id, c.interface, 'CONFIRMATION'
      from unnest(due) e
      join {schema}.contact_email c on c.account_id = of_account and lower(c.email collate "C") = lower(e collate "C");
      insert into {schema}.contact_confirmation (account_id, interface, address_hash)
      select own.id, own.interface, {schema}.contact_address_hash(e) from unnest(due) e;
      return null;
    end
    $$;

    -- Confirms the address to which the token was sent. False if there is no such token, or it has expired. Again, it does nothing.
    create function confirm_contact_email(of_token bytea) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      contact {schema}.contact_email;
    begin
      select c.* into contact
      from {schema}.contact_token t
      join {schema}.contact_email c on c.id = t.contact_id
      where t.token_hash = of_token and t.subject is null and t.expires_at > now() and {schema}.session_sees_account(c.account_id)
      for no key update of c;
      if not found then
        return false;
      end if;
      if contact.confirmed_at is null then
        perform {schema}.check_homes(array[contact.account_id]);
        update {schema}.contact_email set confirmed_at = now(), bounces = 0 where id = contact.id;
        -- Copies of the link that are still to be sent.
        update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and ended_at is null;
        perform {schema}.audit_contact(contact, 'contact_email.confirm', '{}');
      end if;
      return true;
    end
    $$;

    -- Ends the mails with the subject of the mail in which the token was sent, and returns it. Null if there is no such token, or it has
    -- expired. Again, it does nothing.
    create function unsubscribe_contact_email(of_token bytea) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      of_subject text;
      contact {schema}.contact_email;
    begin
      select t.subject into of_subject
      from {schema}.contact_token t
      where t.token_hash = of_token and t.subject is not null and t.expires_at > now() and {schema}.session_sees_account(t.account_id);
      if not found then
        return null;
      end if;
      select c.* into contact
      from {schema}.contact_token t
      join {schema}.contact_email c on c.id = t.contact_id
      where t.token_hash = of_token
      for no key update of c;
      if found and not contact.unsubscribed_from @> array[of_subject] then
        perform {schema}.check_homes(array[contact.account_id]);
        update {schema}.contact_email set unsubscribed_from = unsubscribed_from || of_subject where id = contact.id;
        update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and subject = of_subject and ended_at is null;
        perform {schema}.audit_contact(contact, 'contact_email.unsubscribe', jsonb_build_object('subject', of_subject));
      end if;
      return of_subject;
    end
    $$;

    -- Has a mail sent to each contact address of an account that gets this subject. A mail about the same that was not attempted yet tells both.
    create function add_contact_mails(of_account bigint, of_subject text, of_subscription bigint, of_key text, new_data jsonb) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      contacts bigint[];
      merged bigint[];
    begin
      -- Before the mails, as an update that deletes an address.
      select array_agg(c.id) into contacts
      from (
        select id
        from {schema}.contact_email
        where account_id = of_account and confirmed_at is not null and stopped_at is null and not unsubscribed_from @> array[of_subject]
        order by id
        for key share
      ) c;
      if contacts is null then
        return;
      end if;
      with updated as (
        update {schema}.contact_mail m
        set data = case when of_subject = 'FAILED' then jsonb_build_object(
            'since', least(m.data ->> 'since', new_data ->> 'since'),
            'failedCount', (m.data ->> 'failedCount')::bigint + (new_data ->> 'failedCount')::bigint
          ) else new_data end,
          -- The 3 days for which it is tried begin anew.
          created_at = now(),
          -- The clock can have been set back since.
          next_attempt_at = least(m.next_attempt_at, now() + interval '4 hours')
        where m.contact_id = any (contacts) and m.subject = of_subject and m.ended_at is null and m.attempts = 0
          and coalesce(m.subscription_id::text, m.key_id) = coalesce(of_subscription::text, of_key)
        returning m.contact_id
      )
      select array_agg(contact_id) into merged from updated;
      insert into {schema}.contact_mail (contact_id, account_id, interface, subject, subscription_id, key_id, data, next_attempt_at)
      select c.id, c.account_id, c.interface, of_subject, of_subscription, of_key, new_data, (
        -- Not at the head of those that are due, as long as an earlier one holds it back.
        select greatest(now(), max(case
          when o.ended_at is null then least(o.next_attempt_at, now() + interval '4 hours')
          when o.is_sent and o.ended_at < now() + interval '1 minute' then o.ended_at + interval '1 hour'
        end))
        from {schema}.contact_mail o
        where o.contact_id = c.id and coalesce(o.subscription_id::text, o.key_id) = coalesce(of_subscription::text, of_key)
          and o.subject = of_subject
      )
      from {schema}.contact_email c
      where c.id = any (contacts) and c.id <> all (coalesce(merged, '{}'));
    end
    $$;

    -- Begins an attempt to send the mail that is due for the longest time, and returns what it says. Its links have the new token with this
    -- hash. An attempt that records no result, because its worker was killed, is repeated later. About one subscription or key, an address
    -- gets a mail with the same subject once an hour, and hears of a disruption before its end.
    create function take_contact_mail(new_token_hash bytea) returns table (
      id text, email text, subject text, data jsonb, interface text, organization_id text, account_name text, subscription_id text,
      subscription_name text, subscription_exists boolean, failed_delivery_id text, key_id text, key_name text, key_exists boolean
    )
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with due as (
        select m.id
        from {schema}.contact_mail m
        join {schema}.contact_email c on c.id = m.contact_id
        where m.ended_at is null
          -- It is rounded.
          and m.next_attempt_at <= now() + interval '1 ms'
          and m.created_at > now() - interval '3 days'
          and not exists (select from {schema}.account_away w where w.account_id = m.account_id)
          and (m.attempts > 0 or not exists (
            select
            from {schema}.contact_mail o
            where o.contact_id = m.contact_id
              and coalesce(o.subscription_id::text, o.key_id) = coalesce(m.subscription_id::text, m.key_id)
              and case when o.ended_at is null then
                o.id < m.id and o.created_at > now() - interval '3 days'
                  and (o.subject = m.subject or o.subject in ('DISRUPTED', 'RECOVERED') and m.subject in ('DISRUPTED', 'RECOVERED'))
              else
                -- The clock can have been set back since.
                o.is_sent and o.subject = m.subject and o.ended_at between now() - interval '1 hour' and now() + interval '1 minute'
              end
          ))
        order by m.next_attempt_at
        limit 1
        -- An update that deletes an address locks it before its mails. This waits for no lock.
        for update of m skip locked
        for key share of c skip locked
      ), taken as (
        update {schema}.contact_mail m
        set attempts = m.attempts + 1,
          -- Longer than an attempt can take.
          next_attempt_at = now() + (array[2, 5, 15, 30, 60, 120, 240])[least(m.attempts + 1, 7)] * interval '1 minute'
        from due
        where m.id = due.id
        returning m.*
      ), held_back as (
        update {schema}.contact_mail m
        set next_attempt_at = t.next_attempt_at
        from taken t
        where m.contact_id = t.contact_id and coalesce(m.subscription_id::text, m.key_id) = coalesce(t.subscription_id::text, t.key_id)
          and m.subject = t.subject and m.id <> t.id and m.ended_at is null and m.attempts = 0
      ), token as (
        insert into {schema}.contact_token (token_hash, contact_id, account_id, interface, subject, expires_at)
        select new_token_hash, t.contact_id, t.account_id, t.interface, nullif(t.subject, 'CONFIRMATION'),
          now() + case t.subject when 'CONFIRMATION' then interval '1 day' else interval '90 days' end
        from taken t
      )
      select t.id::text, c.email, t.subject, t.data, t.interface::text, a.organization_id::text, a.name, t.subscription_id::text, s.name,
        s.id is not null, r.last_failed_delivery_id::text, t.key_id, k.name, k.key_id is not null and k.revoked_at is null
      from taken t
      join {schema}.contact_email c on c.id = t.contact_id
      join {schema}.account a on a.id = t.account_id
      left join {schema}.webhook_subscription s on s.id = t.subscription_id and s.deleted_at is null
      left join {schema}.webhook_receiver_state r on r.subscription_id = s.id and r.url_number = s.url_number and r.consecutive_failures > 0
      left join {schema}.api_key k on k.key_id = t.key_id
    $$;

    -- Records the result of an attempt: SENT, BOUNCED if the server refuses the address for good, or DROPPED if there is nothing left to
    -- tell. Returns whether the address gets no further mails, because of its fifth bounce in a row. Of an account that is away, it
    -- records nothing: the attempt is repeated there.
    create function end_contact_mail(of_mail bigint, result text) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      bounces_max constant int := 5;
      contact {schema}.contact_email;
    begin
      select c.* into contact
      from {schema}.contact_email c
      where c.id = (select m.contact_id from {schema}.contact_mail m where m.id = of_mail and m.ended_at is null)
        and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
      for no key update of c;
      if not found then
        return false;
      end if;
      update {schema}.contact_mail set ended_at = now(), is_sent = result = 'SENT' where id = of_mail and ended_at is null;
      if not found then
        return false;
      end if;
      if result = 'SENT' then
        -- The next one about the same waits for an hour.
        update {schema}.contact_mail m
        set next_attempt_at = now() + interval '1 hour'
        from {schema}.contact_mail o
        where o.id = of_mail and m.contact_id = o.contact_id and m.subject = o.subject
          and coalesce(m.subscription_id::text, m.key_id) = coalesce(o.subscription_id::text, o.key_id)
          and m.ended_at is null and m.attempts = 0;
        update {schema}.contact_email set bounces = 0 where id = contact.id and bounces > 0;
      elsif result = 'BOUNCED' and contact.stopped_at is null then
        update {schema}.contact_email
        set bounces = bounces + 1, stopped_at = case when bounces + 1 >= bounces_max then now() end
        where id = contact.id;
        if contact.bounces + 1 >= bounces_max then
          update {schema}.contact_mail set ended_at = now() where contact_id = contact.id and ended_at is null;
          return true;
        end if;
      end if;
      return false;
    end
    $$;

    -- Deletes up to `batch` each of addresses that were not confirmed within 7 days, counted confirmations after a day, tokens that have
    -- expired, and mails after 3 days. Returns the largest number.
    create function forget_contacts(batch int) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deleted bigint;
      most bigint;
    begin
      delete from {schema}.contact_email
      where id = any (array(
        select c.id
        from {schema}.contact_email c
        where c.confirmed_at is null and c.created_at < now() - interval '7 days'
          -- The last link works for as long as it says.
          and not exists (select from {schema}.contact_token t where t.contact_id = c.id and t.expires_at > now())
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by c.created_at
        limit batch
        for update of c skip locked
      ));
      get diagnostics most = row_count;
      delete from {schema}.contact_confirmation
      where id = any (array(
        select n.id
        from {schema}.contact_confirmation n
        where n.created_at < now() - interval '1 day'
          and not exists (select from {schema}.account_away w where w.account_id = n.account_id and w.is_frozen)
        order by n.created_at
        limit batch
        for update of n skip locked
      ));
      get diagnostics deleted = row_count;
      most := greatest(most, deleted);
      delete from {schema}.contact_token
      where token_hash = any (array(
        select t.token_hash
        from {schema}.contact_token t
        where t.expires_at < now()
          and not exists (select from {schema}.account_away w where w.account_id = t.account_id and w.is_frozen)
        order by t.expires_at
        limit batch
        for update of t skip locked
      ));
      get diagnostics deleted = row_count;
      most := greatest(most, deleted);
      delete from {schema}.contact_mail
      where id = any (array(
        select m.id
        from {schema}.contact_mail m
        where m.created_at < now() - interval '3 days'
          and not exists (select from {schema}.account_away w where w.account_id = m.account_id and w.is_frozen)
        order by m.created_at
        limit batch
        for update of m skip locked
      ));
      get diagnostics deleted = row_count;
      return greatest(most, deleted);
    end
    $$;

    -- Deletes an address from the contact addresses of an account, and what counts its confirmations. Writes an entry of the audit log, for
    -- which the transaction can set `deedwire.audit_claim` as for audit_change().
    create function erase_contact_emails(of_email text, of_account bigint) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      contact {schema}.contact_email;
    begin
      perform {schema}.check_homes(array[of_account]);
      delete from {schema}.contact_email c
      where c.account_id = of_account and lower(c.email collate "C") = lower(of_email collate "C")
      returning c.* into contact;
      if found then
        perform {schema}.audit_contact(contact, 'contact_email.erase', '{}');
      end if;
      delete from {schema}.contact_confirmation n
      where n.account_id = of_account and n.address_hash = {schema}.contact_address_hash(of_email);
    end
    $$;

    -- Appends an alert about a subscription to the outbox of its account, and has it sent by mail. The data has the form of
    -- `EventSnapshots`.
    create or replace function webhook_append_alert(subscription {schema}.webhook_subscription, type text, data jsonb, gid_namespace text)
    returns void
    language sql
    set search_path = pg_catalog, pg_temp
    as $$
      with event as (
        insert into {schema}.webhook_event (account_id, interface, event_type, snapshot, about_subscription_id)
        values (subscription.account_id, subscription.interface, type, (data || jsonb_build_object('webhookSubscription',
          jsonb_build_object('id', 'gid://' || gid_namespace || '/WebhookSubscription/' || subscription.id, 'name', subscription.name)
        ))::json, subscription.id)
        returning id
      )
      insert into {schema}.webhook_event_queue (account_id, interface, event_id)
      select subscription.account_id, subscription.interface, id
      from event;
      select {schema}.add_contact_mails(subscription.account_id, case type
        when 'webhook_subscription.disrupted' then 'DISRUPTED'
        when 'webhook_subscription.paused' then 'PAUSED'
        when 'webhook_subscription.recovered' then 'RECOVERED'
        when 'webhook_delivery.failed' then 'FAILED'
      -- It lists no deliveries.
      end, subscription.id, null, data - 'webhookDeliveryIds')
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  for change in
    select *
    from (values
      ('append_key_event', 'with event as (', $$select {schema}.add_contact_mails(
          c.account_id, 'KEY_EXPIRING', null, k.key_id, jsonb_build_object('expiresAt', {schema}.webhook_alert_time(k.expires_at)))
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = of_key and type = 'api_key.expiring';
        with event as ($$),
      -- No login of an interface invents an entry of audit_contact().
      ('guard_audit_entries', '|client|credential|', '|client|contact_email|credential|'),
      -- The copy mails no one.
      ('close_copy', 'delete from {schema}.webhook_failure_to_report;', $$delete from {schema}.webhook_failure_to_report;
        delete from {schema}.contact_email;
        delete from {schema}.contact_confirmation;$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    change.old_text := replace(change.old_text, '{schema}', quote_ident(current_schema()));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;

revoke execute on function contact_address_hash, audit_contact, update_contact_emails, confirm_contact_email, unsubscribe_contact_email,
  add_contact_mails, take_contact_mail, end_contact_mail, forget_contacts, erase_contact_emails from public;
grant execute on function take_contact_mail, end_contact_mail, forget_contacts to webhook_worker;
grant execute on function update_contact_emails, erase_contact_emails to operator;

insert into shared_right values
  ('select on contact_email'),
  ('execute on routine update_contact_emails(of_account bigint, emails text[], has_portal boolean)'),
  ('execute on routine confirm_contact_email(of_token bytea)'),
  ('execute on routine unsubscribe_contact_email(of_token bytea)');
insert into shared_policy values ('contact_email', '{role}', 'for select to {role} using (interface = {interface})');
select grant_shared_rights(name) from interface;
-- Late, because apps wait for its lock.
select guard_audit_entries();
