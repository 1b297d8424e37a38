-- The audit log has the end of a session of the portal once, when it ends. To end a session, apps of all releases write now(), rounded down
-- to milliseconds.

do $do$
declare
  definition text := pg_get_functiondef('check_portal_session'::regproc);
  change record;
begin
  for change in
    select *
    from (values
      ('or new.expires_at > old.expires_at then', $$or new.expires_at > old.expires_at
          or new.expires_at < old.expires_at and new.expires_at > now() + interval '1 millisecond' then$$),
      ($$'The session % can only end, earlier than before.', old.id using errcode = 'insufficient_privilege';$$,
        $$'The session % can only end, and now.', old.id using errcode = 'insufficient_privilege';
        elsif new.expires_at < old.expires_at then
          -- Rounded to milliseconds, now() could be in the future. Another transaction can have ended it since this one began.
          new.expires_at := case
            when old.expires_at <= clock_timestamp() then old.expires_at
            else least(new.expires_at, date_trunc('milliseconds', now()))
          end;$$)
    ) as changes (old_text, new_text)
  loop
    if strpos(definition, change.old_text) = 0 then
      raise exception 'The function check_portal_session is not that of an earlier migration.';
    end if;
    definition := replace(definition, change.old_text, change.new_text);
  end loop;
  execute definition;
end
$do$;
