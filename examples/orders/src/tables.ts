import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';

export const customers = pgTable('customer', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  balanceCents: integer('balance_cents').notNull(),
});

export const orders = pgTable('order', {
  id: uuid().primaryKey(),
  customerId: uuid('customer_id').notNull(),
  status: text({ enum: ['OPEN', 'PAID', 'SHIPPED'] })
    .notNull()
    .default('OPEN'),
  totalCents: integer('total_cents').notNull(),
});

export const orderLines = pgTable('order_line', {
  orderId: uuid('order_id').notNull(),
  product: text().notNull(),
  quantity: integer().notNull(),
  priceCents: integer('price_cents').notNull(),
});

export const db: NodePgDatabase & { $client: Pool } = drizzle(process.env.DATABASE_URL ?? '');
