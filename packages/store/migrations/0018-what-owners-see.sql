-- What the owner of a webhook may see: the bodies that are sent, what is remembered about a receiver, and whether a worker runs.

-- The policies of the interfaces exist since 0002.
grant select on webhook_payload to lender_api, partner_api;

-- The rows have no interface. A policy of webhook_subscription applies within another policy, so a login of an interface sees
-- the states of its subscriptions only. Workers of earlier releases write as before.
alter table webhook_receiver_state enable row level security;
create policy webhook_worker on webhook_receiver_state to webhook_worker using (true);
create policy operator on webhook_receiver_state for select to operator using (true);
do $$
declare
  app text;
begin
  foreach app in array array['lender_api', 'partner_api'] loop
    execute format(
      'create policy %1$I on webhook_receiver_state for select to %1$I
       using (exists (select from webhook_subscription s where s.id = subscription_id))', app);
    execute format('grant select on webhook_receiver_state to %I', app);
  end loop;
end
$$;

-- Whether a worker sends the deliveries of an account. Workers and shards belong to no interface, so the interfaces read neither.
do $do$
begin
  execute replace($schema$
    create function webhook_has_worker(account_id bigint) returns boolean
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select exists (
        select
        from {schema}.webhook_shard s
        join {schema}.webhook_worker w on w.id = s.worker_id
        where s.shard = ($1 & 63)::smallint and w.alive and w.leased_until > clock_timestamp()
      )
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_has_worker from public;
grant execute on function webhook_has_worker to lender_api, partner_api, operator;
