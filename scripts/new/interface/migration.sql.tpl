-- The {{words}} interface: its role, and its first record.

select add_interface('{{name}}', '{{account}}');

-- The name that an account gave itself.
create table {{snake}} (
  account_id bigint primary key,
  interface interface_name not null default '{{name}}' check (interface = '{{name}}'),
  name text not null constraint {{snake}}_name_bounds check (char_length(name) <= 200),
  foreign key (account_id, interface) references account (id, interface)
);
-- As on every table that a change of an account writes.
create trigger check_home before insert or update on {{snake}} for each row
  when (coalesce(strpos(current_setting('deedwire.homes', true), ',' || new.account_id || ','), 0) = 0)
  execute function check_home('account_id');
alter table {{snake}} enable row level security;
create policy {{snake}}_api on {{snake}} to {{snake}}_api using (interface = '{{name}}');
grant select, insert (account_id, interface, name), update (name) on {{snake}} to {{snake}}_api;
