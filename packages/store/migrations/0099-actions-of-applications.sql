-- Which actions of the audit log only commands of operators record is data of the service, which `deedwire-operator database migrate` writes.
-- The policies named those of the sample.

create table audit_action (
  action text primary key,
  -- No interface may record it, in any release that has registered it.
  of_operators boolean not null,
  -- It removes the record that it is about, in a release that has registered it.
  removes boolean not null
);
insert into audit_action values
  ('member.add', true, false), ('member.remove', true, true), ('member.update', true, false), ('referral.convert', true, false),
  ('referral.create', false, false), ('referral.decline', true, false);

do $do$
declare
  app text;
  own_check constant text := $check$(action !~ '^(organization|secrets|database|cell)\.'
      and not exists (select from audit_action a where a.action = audit_entry.action and a.of_operators))$check$;
begin
  insert into shared_right values ('select on audit_action');
  update shared_policy
  set words = 'as restrictive for insert to {role} with check ' || own_check
  where relation = 'audit_entry' and name = '{role}_actions';
  for app in
    select a.role
    from (select role_of_interface(name) from interface union all values ('webhook_worker'), ('operator')) as a (role)
    where to_regrole(quote_ident(a.role)) is not null
  loop
    execute format('grant select on audit_action to %I', app);
  end loop;
  -- Late, because the apps wait for this lock.
  for app in 
    select p.polname
    from interface i join pg_policy p on p.polname = role_of_interface(i.name) || '_actions'
    where p.polrelid = 'audit_entry'::regclass
  loop
    execute format('alter policy %I on audit_entry with check %s', app, own_check);
  end loop;
end
$do$;
