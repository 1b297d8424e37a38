-- The functions for applications run in transactions of any isolation. Above read committed, the snapshot can be older than a freeze of the
-- account: the transaction then fails with 40001, as when it meets another change, and the application repeats it.

-- The number of the transaction that last wrote account_home, also of one that is open or was rolled back: a sequence keeps it in any case.
create sequence home_change;

do $do$
begin
  execute replace($schema$
    create function note_home_change() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      -- Writers take turns. So when one is visible in a snapshot, all before it are.
      lock table only {schema}.account_home in share update exclusive mode;
      perform setval('{schema}.home_change', pg_current_xact_id()::text::bigint);
      return null;
    end
    $$;

    -- Whether the snapshot of this transaction can lack a change of homes. After a lock on account_home, so that later changes wait.
    create function lacks_home_change() returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      last_change xid8;
    begin
      select last_value::text::xid8 into last_change from {schema}.home_change where is_called;
      if last_change is null or last_change = pg_current_xact_id_if_assigned()
        or pg_visible_in_snapshot(last_change, pg_current_snapshot()) then
        return false;
      end if;
      perform pg_xact_status(last_change);
      return true;
    exception
      when invalid_parameter_value then
        return false; -- a number of the server that a dump is from
    end
    $$;

    -- As check_homes(), at any isolation and for any login. For functions of the owner, which the login of an application calls.
    create function check_home_of_application(of_account bigint) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    as $$
    declare
      known constant text := current_setting('deedwire.homes', true);
    begin
      if known = '*' or strpos(known, concat(',', of_account, ',')) > 0 then
        return;
      end if;
      lock table only {schema}.account_home in access share mode;
      if pg_relation_size('{schema}.account_home') = 0 then
        perform set_config('deedwire.homes', '*', true);
        return;
      end if;
      if current_setting('transaction_isolation') in ('repeatable read', 'serializable') and {schema}.lacks_home_change() then
        raise exception using
          errcode = 'serialization_failure',
          message = 'The homes of accounts have changed since this transaction began.',
          hint = 'Repeat the transaction.';
      end if;
      if exists (select from {schema}.account_away a where a.account_id = of_account) then
        raise exception using
          errcode = 'ZH001',
          message = format('The account %s is frozen, or at home in another cell.', of_account),
          hint = 'Repeat the transaction: a split of the cell ends within minutes.';
      end if;
      perform set_config('deedwire.homes', concat(case when length(known) < 1000 then known end, ',', of_account, ','), true);
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

create trigger note_home_change before insert or update or delete on account_home for each statement execute function note_home_change();
revoke execute on function note_home_change, lacks_home_change, check_home_of_application from public;
