-- The rows of deleted subscriptions and listeners end with what they explain. Workers of earlier releases leave them to those of this
-- one. To an API of an earlier release, a subscription that has no row is a deleted one.

-- Serves the walk over those that can be deleted. A scan of subscriptions is short: no table of the history is read.
-- squawk-ignore require-concurrent-index-creation
create index webhook_subscription_deleted on webhook_subscription (shard, deleted_at, id) where deleted_at is not null;

-- Serves the foreign key. Few rows: retries are deleted after a day.
-- squawk-ignore require-concurrent-index-creation
create index webhook_replay_by_subscription on webhook_replay (subscription_id);

do $do$
begin
  execute replace($schema$
    -- Deletes the rows of these subscriptions, if they are deleted and have no replay, and returns the number of subscriptions.
    -- Those that had a delivery stay unless `with_deliveries`, which is for those whose deliveries have been dropped.
    create function webhook_forget_subscriptions(ids bigint[], with_deliveries boolean) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      ids_max constant int := 1000;
      deleted_id bigint;
      forgotten bigint := 0;
    begin
      if cardinality(ids) > ids_max then
        raise exception 'At most % subscriptions are forgotten at once, not %.', ids_max, cardinality(ids);
      end if;
      for deleted_id in
        select s.id
        from {schema}.webhook_subscription s
        where s.id = any (ids) and s.deleted_at is not null
          and not exists (select from {schema}.webhook_replay r where r.subscription_id = s.id)
        order by s.id
        for update of s skip locked
      loop
        delete from {schema}.webhook_subscription_sequence
        where subscription_id = deleted_id and (with_deliveries or last_sequence = 0);
        continue when exists (select from {schema}.webhook_subscription_sequence where subscription_id = deleted_id);
        delete from {schema}.webhook_subscription_event_type where subscription_id = deleted_id;
        delete from {schema}.webhook_receiver_state where subscription_id = deleted_id;
        delete from {schema}.webhook_subscription where id = deleted_id;
        forgotten := forgotten + 1;
      end loop;
      return forgotten;
    end
    $$
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_forget_subscriptions from public;
grant execute on function webhook_forget_subscriptions to webhook_worker;
