-- The migrations of the application that were applied. Theirs are other names than those of the platform, and may equal them.

create table app_migration (
  -- The name of the file without its extension.
  name text primary key,
  -- SHA-256 of the file, in hexadecimal.
  checksum text not null,
  applied_at timestamptz(3) not null default now()
);

do $do$
declare
  app text;
begin
  insert into shared_right values ('select on app_migration');
  for app in
    select a.role
    from (select role_of_interface(name) from interface union all values ('webhook_worker'), ('operator')) as a (role)
    where to_regrole(quote_ident(a.role)) is not null
  loop
    execute format('grant select on app_migration to %I', app);
  end loop;
end
$do$;
