-- Validates the bounds of 0028 and 0029, within which the apps of all releases write. Stops at the first row that violates one, and
-- says how to mend it. Changes no row. Reads each table, and blocks no app.
do $$
declare
  bound record;
  key text;
  changes text;
begin
  for bound in
    -- `changes`: for each column of the table that is out of bounds in a row `r`, what mends it.
    select mended.*,
      string_agg(format('case when not %s then %L end', expression, change), ', ') over (
        partition by table_name order by conname rows between unbounded preceding and unbounded following
      ) as changes
    from (
      select c.conrelid::regclass as table_name, c.conname, a.attname, pg_get_expr(c.conbin, c.conrelid) as expression,
        case
          when c.conrelid::regclass::text in (
            'idempotency_key', 'webhook_event_queue', 'webhook_replay', 'webhook_subscription_event_type'
          ) then null
          when a.attname = 'callback_url' then
            format('%1$I = left(%1$I, 2048), paused_reason = %2$L, paused_at = now()', a.attname, 'GONE')
          when a.atttypid = 'bytea'::regtype then format('%I = %L', a.attname, '')
          when a.atttypid = 'text'::regtype then
            format('%1$I = left(%1$I, %2$s)', a.attname, substring(pg_get_expr(c.conbin, c.conrelid) from '<= (\d+)'))
          when a.atttypid = 'timestamptz'::regtype then
            format('%1$I = least(greatest(%1$I, %2$L), %3$L)', a.attname, '1970-01-01Z', '9999-12-31Z')
        end as change
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.connamespace = current_schema()::regnamespace and c.contype = 'c' and c.conname like '%\_bounds'
        and not c.convalidated
    ) mended
    order by table_name::text, conname
  loop
    begin
      execute format('alter table %s validate constraint %I', bound.table_name, bound.conname);
    exception when check_violation then
      -- The row has the name of its primary key, apart from a part that is out of bounds itself.
      execute format(
        $query$
          select string_agg(format('%%I = %%L', part.attname, to_jsonb(r) ->> part.attname), ' and ' order by part.attnum),
            min(r.changes)
          from (select *, concat_ws(', ', %3$s) as changes from %1$s where not %2$s limit 1) r
          left join pg_index i on i.indrelid = %4$L::regclass and i.indisprimary
          left join pg_attribute part
            on part.attrelid = i.indrelid and part.attnum = any (i.indkey) and part.attname <> %5$L
        $query$,
        bound.table_name, bound.expression, bound.changes, bound.table_name, bound.attname
      ) into key, changes;
      raise exception using
        errcode = 'check_violation',
        message = format('A row of %s violates %s: %s. No row was changed. Look at it, mend it, and migrate again: %s where %s;',
          concat_ws(' with ', bound.table_name::text, key), bound.conname, bound.expression,
          case changes
            when '' then format('delete from %s', bound.table_name)
            else format('update %s set %s', bound.table_name, changes)
          end,
          concat_ws(' and ', key, 'not ' || bound.expression));
    end;
  end loop;
end
$$;
