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
    -- Those that had a delivery stay unless `with_deliveries`, which is for those whose deliveries have been dropped. Those with a row
    -- that another transaction holds stay too: a login of an interface can hold its event types for as long as it likes.
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
        order by s.id
        for update skip locked
      loop
        -- A replay locks its subscription, so now none is added.
        continue when exists (select from {schema}.webhook_replay where subscription_id = deleted_id);
        continue when (
          select count(*) from {schema}.webhook_subscription_event_type where subscription_id = deleted_id
        ) > (
          select count(*)
          from (
            select from {schema}.webhook_subscription_event_type where subscription_id = deleted_id for update skip locked
          ) free
        );
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

-- As in 0027, and the time of a deletion is that of its transaction: it decides when the rows end.
create or replace function webhook_check_changed_listener() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not row_security_active(tg_relid) then
    return new;
  end if;
  if old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at then
    raise exception 'The subscription % is deleted.', old.id using errcode = 'insufficient_privilege';
  end if;
  -- The column rounds.
  if old.deleted_at is null and new.deleted_at not between now() - interval '1 second' and now() + interval '1 second' then
    raise exception 'The subscription % is deleted now, and not at %.', old.id, new.deleted_at
      using errcode = 'insufficient_privilege';
  end if;
  if new.last_read_at < old.last_read_at or new.last_read_at > now() + interval '1 second' then
    raise exception 'The last read of the listener % was not at %.', old.id, new.last_read_at
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
