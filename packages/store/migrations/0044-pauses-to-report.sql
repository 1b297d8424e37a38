-- Notes each pause that an alert reports, whoever pauses the subscription, and the end of one. Apps of earlier releases too.

do $do$
begin
  execute replace($schema$
    create function webhook_note_pause() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      if new.paused_reason is null then
        update {schema}.webhook_subscription_episode
        set state = 'RECOVERING', since = now()
        where subscription_id = new.id and state = 'PAUSED';
      elsif new.paused_reason <> 'OWNER' then
        insert into {schema}.webhook_subscription_episode (subscription_id, paused_reason, paused_at)
        values (new.id, new.paused_reason, new.paused_at)
        on conflict (subscription_id) do update set paused_reason = excluded.paused_reason, paused_at = excluded.paused_at;
      end if;
      return null;
    end
    $$
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_note_pause from public;

create trigger note_pause after update of paused_reason, paused_at on webhook_subscription
  for each row
  when (new.kind = 'PUSH' and (new.paused_reason, new.paused_at) is distinct from (old.paused_reason, old.paused_at))
  execute function webhook_note_pause();
