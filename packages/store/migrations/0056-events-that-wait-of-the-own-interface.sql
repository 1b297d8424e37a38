-- The function of 0050, which also answered logins of another interface.

do $do$
begin
  execute replace($schema$
    -- The oldest event of an account that waits for its fan-out, up to the length of a transaction. Null if there is none, and for an
    -- account of another interface than that of the login. Served by webhook_event_queue_by_account and webhook_event_queue_blocked,
    -- whose groups it jumps along. The rows are compared and ordered by all columns of the index, because with statistics of an empty
    -- queue PostgreSQL would read all entries of the shard.
    create or replace function webhook_oldest_queued_event(account_id bigint) returns bigint
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with recursive blocked as (
        select '' as blocked_on, 0::bigint as subscription_id, null::bigint as event_id
        union all
        select next.*
        from blocked
        cross join lateral (
          select q.blocked_on, coalesce(q.subscription_id, 0), q.event_id
          from {schema}.webhook_event_queue q
          where q.shard = ($1 & 63)::smallint and q.blocked_on is not null and q.account_id <= $1 and q.event_id is not null
            and (q.account_id, q.blocked_on, coalesce(q.subscription_id, 0)) > ($1, blocked.blocked_on, blocked.subscription_id)
          order by q.account_id, q.blocked_on, coalesce(q.subscription_id, 0), q.position
          limit 1
        ) next
      )
      select least(
        (select min(event_id) from blocked),
        (
          select q.event_id
          from {schema}.webhook_event_queue q
          where q.shard = ($1 & 63)::smallint and q.blocked_on is null and q.account_id <= $1
            and (q.account_id, (q.event_id is not null), q.position) > ($1, true, 0)
          order by q.account_id, (q.event_id is not null), q.position
          limit 1
        )
      )
      from {schema}.account a
      where a.id = $1 and pg_has_role(session_user, {schema}.role_of_interface(a.interface), 'member')
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;
