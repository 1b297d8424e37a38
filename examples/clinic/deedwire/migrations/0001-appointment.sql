create table appointment (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'patient',
  starts_at timestamptz(3) not null unique,
  reason text not null
);
create index appointment_by_account on appointment (account_id, starts_at);
select own_table('appointment', 'patient', 'select, insert');
