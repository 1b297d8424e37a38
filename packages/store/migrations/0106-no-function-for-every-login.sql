-- new_record_id() was the last function that every login of the database may call. The roles that can draw its number keep it.

do $do$
declare
  caller regrole;
begin
  revoke execute on function new_record_id from public;
  insert into shared_right values ('execute on routine new_record_id()');
  for caller in
    select distinct x.grantee
    from pg_class c, aclexplode(c.relacl) x
    where c.oid = 'record_number'::regclass and x.privilege_type in ('USAGE', 'UPDATE') and x.grantee not in (0, c.relowner)
  loop
    execute format('grant execute on function new_record_id to %s', caller);
  end loop;
end
$do$;
