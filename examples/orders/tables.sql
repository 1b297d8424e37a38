create table customer (
  id uuid primary key,
  name text not null,
  balance_cents int not null
);

create table "order" (
  id uuid primary key,
  customer_id uuid not null references customer,
  status text not null default 'OPEN' check (status in ('OPEN', 'PAID', 'SHIPPED')),
  total_cents int not null
);

create table order_line (
  order_id uuid not null references "order",
  product text not null,
  quantity int not null,
  price_cents int not null,
  primary key (order_id, product)
);
