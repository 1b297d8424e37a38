-- replaces 0001-accounts-and-credentials of the platform
-- The team members of lenders, the referrals of partners, and the matters that these become.

create table team_member (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'lender' check (interface = 'lender'),
  first_name text not null constraint team_member_first_name_bounds check (char_length(first_name) <= 200),
  last_name text not null constraint team_member_last_name_bounds check (char_length(last_name) <= 200),
  email text not null constraint team_member_email_bounds check (char_length(email) <= 254),
  created_at timestamptz(3) not null default now()
    constraint team_member_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z')
);
create index team_member_by_account on team_member (account_id, id);
-- Spellings of an address in other letters are other addresses.
create unique index team_member_email on team_member (account_id, email);
select own_table('team_member', 'lender', 'select');

create table referral (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'partner' check (interface = 'partner'),
  status text not null default 'OPEN' check (status in ('OPEN', 'CONVERTED', 'DECLINED')),
  client_name text not null constraint referral_client_name_bounds check (char_length(client_name) <= 200),
  client_email text constraint referral_client_email_bounds check (char_length(client_email) <= 254),
  external_reference text constraint referral_external_reference_bounds check (char_length(external_reference) <= 200),
  note text constraint referral_note_bounds check (char_length(note) <= 5000),
  created_at timestamptz(3) not null default now()
    constraint referral_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z'),
  closed_at timestamptz(3) constraint referral_closed_at_bounds check (closed_at between '1970-01-01Z' and '9999-12-31Z'),
  decline_reason text constraint referral_decline_reason_bounds check (char_length(decline_reason) <= 1000),
  check ((status = 'OPEN') = (closed_at is null))
);
create index referral_by_account on referral (account_id, id);
create index referral_by_account_and_status on referral (account_id, status, id);
-- Finds the referrals of a partner by the reference of the partner, newest first, of one status or of all three.
create index referral_by_reference on referral (account_id, external_reference, status, id) where external_reference is not null;
-- Lists the referrals of a partner in the order in which they were closed.
create index referral_by_closing on referral (account_id, status, closed_at, id) where closed_at is not null;
-- The same among referrals with one reference.
create index referral_by_reference_and_closing on referral (account_id, external_reference, status, closed_at, id)
  where external_reference is not null and closed_at is not null;
select own_table('referral', 'partner', 'select, insert');

-- Numbers matters, for their references. It never restarts.
create sequence matter_number;

-- A matter belongs to a referral, so it can only belong to a partner.
create table matter (
  id bigint primary key default new_record_id(),
  referral_id bigint not null references referral,
  reference text not null unique constraint matter_reference_bounds check (octet_length(reference) <= 100),
  opened_at timestamptz(3) not null default now()
    constraint matter_opened_at_bounds check (opened_at between '1970-01-01Z' and '9999-12-31Z')
);
-- Contains what a page of referrals shows of their matters, so that it reads no rows of the table.
create unique index matter_by_referral on matter (referral_id) include (id, reference, opened_at);
select own_table('matter', 'partner', 'select', 'referral_id');
select own_sequence('matter_number', 'matter', 'reference');

-- The commands of operators write these tables.
do $do$
declare
  operator constant regrole := to_regrole(quote_ident(role_name('operator-cli')));
begin
  if operator is not null then
    execute format('grant select, insert, update, delete on team_member to %s', operator);
    execute format('grant select, insert, update on referral to %s', operator);
    execute format('grant select, insert on matter to %s', operator);
    execute format('grant usage on sequence matter_number to %s', operator);
  end if;
end
$do$;
