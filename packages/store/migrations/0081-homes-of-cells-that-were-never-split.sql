-- Until a cell is split, account_home has no row. A transaction that finds it empty knows the homes of all accounts until its end, and
-- its rows are checked by comparing a setting: PostgreSQL reads the condition of a trigger again for every statement, so a long one costs
-- each write more than it saves.

do $do$
declare
  change record;
  definition text;
  guard text;
begin
  for change in
    select *
    from (values
      -- The size takes the same time whatever rows of others are there. It grows before a row is visible, and VACUUM makes it 0 again.
      -- Locked first: a freeze whose rows come later waits for this transaction, as for those that know single accounts.
      ('check_homes', 'select account_id into away', $$lock table only {schema}.account_home in access share mode;
      if pg_relation_size('{schema}.account_home') = 0 then
        perform set_config('deedwire.homes', '*', true);
        return true;
      end if;
      select account_id into away$$),
      ('check_home', $$if tg_op = 'DELETE' and current_setting('deedwire.pruning'$$,
        $$if strpos(current_setting('deedwire.homes', true), concat(',', account, ',')) > 0 then
        return changed;
      end if;
      if tg_op = 'DELETE' and current_setting('deedwire.pruning'$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;

  -- Replaced, not dropped: queries go on meanwhile.
  for guard in
    select pg_get_triggerdef(oid) from pg_trigger where tgfoid = 'check_home'::regproc order by tgrelid::regclass::text, tgname
  loop
    execute regexp_replace(guard, '^CREATE TRIGGER (.*) FOR EACH ROW .*EXECUTE',
      $$create or replace trigger \1 for each row when (current_setting('deedwire.homes', true) is distinct from '*') execute$$);
  end loop;
end
$do$;
