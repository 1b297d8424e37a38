-- The points of each API client: what an operation costs is taken from the bucket of its client.

-- The size of the bucket, and the points that it regains in a second. The defaults are published with the contracts. The
-- minimum of the size is the cost of the most expensive operation that is allowed.
alter table api_client
  add column cost_maximum int not null default 2000 check (cost_maximum between 1000 and 1000000000),
  add column cost_restore_rate int not null default 200 check (cost_restore_rate between 1 and 1000000000);

-- The points that no process holds. Each process takes points from here and spends them without the database.
create table cost_bucket (
  api_client_id bigint primary key,
  interface interface_name not null,
  -- At `settled_at`, and at most `api_client.cost_maximum`, which may have been lowered since. Negative after an outage in which
  -- the processes spent points that they had not taken.
  points double precision not null,
  settled_at timestamptz not null default clock_timestamp(),
  foreign key (api_client_id, interface) references api_client (id, interface)
-- Updated several times a second for a busy client. The free space lets PostgreSQL keep the versions of a row on its page.
) with (fillfactor = 50);

-- A trigger, because the previous release of the operator's commands also creates clients.
create function create_cost_bucket() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into cost_bucket (api_client_id, interface, points) values (new.id, new.interface, new.cost_maximum)
  -- A restored dump can contain the bucket already.
  on conflict (api_client_id) do nothing;
  return null;
end
$$;
revoke execute on function create_cost_bucket from public;
create trigger create_cost_bucket after insert on api_client for each row execute function create_cost_bucket();

insert into cost_bucket (api_client_id, interface, points) select id, interface, cost_maximum from api_client;

-- The processes of each interface. While the database does not respond, each of them restores its share of the points.
create table cost_process (
  id uuid primary key,
  interface interface_name not null,
  seen_at timestamptz not null default clock_timestamp()
);

alter table cost_bucket enable row level security;
alter table cost_process enable row level security;

create policy lender_api on cost_bucket to lender_api using (interface = 'lender');
create policy partner_api on cost_bucket to partner_api using (interface = 'partner');
create policy lender_api on cost_process to lender_api using (interface = 'lender');
create policy partner_api on cost_process to partner_api using (interface = 'partner');

grant select, update (points, settled_at) on cost_bucket to lender_api, partner_api;
grant select, insert, update, delete on cost_process to lender_api, partner_api;
