create table customer_order (
  id bigint primary key default new_record_id(),
  account_id bigint not null,
  interface interface_name not null default 'customer',
  item text not null,
  buyer_email text,
  note text
);
create index customer_order_by_account on customer_order (account_id, id);
select own_table('customer_order', 'customer', 'select, insert');
