import { randomUUID } from 'node:crypto';
import { append, createAccount, fromDrizzle, wake, z } from '@deedwire/service';
import { and, eq, gte, sql } from 'drizzle-orm';
import express, { type Express } from 'express';
import { orderPaid, orderShipped } from '../deedwire/service.ts';
import { customers, db, orderLines, orders } from './tables.ts';

/** The shop. It lets everybody in, so that it stays short. */
export const app: Express = express().use(express.json());

const newCustomer = z.object({ name: z.string(), balanceCents: z.int() });

app.post('/customers', async ({ body }, response) => {
  const customer = { id: randomUUID(), ...newCustomer.parse(body) };
  await db.transaction(async (tx) => {
    await tx.insert(customers).values(customer);
    await createAccount(fromDrizzle(tx, sql), { interface: 'customer', externalId: customer.id, name: customer.name });
  });
  response.status(201).json(customer);
});

const newOrder = z.object({
  lines: z.array(z.object({ product: z.string(), quantity: z.int(), priceCents: z.int() })).min(1),
});

app.post('/customers/:id/orders', async ({ params, body }, response) => {
  const { lines } = newOrder.parse(body);
  const totalCents = lines.reduce((sum, { quantity, priceCents }) => sum + quantity * priceCents, 0);
  const order = { id: randomUUID(), customerId: params.id, totalCents };
  await db.transaction(async (tx) => {
    await tx.insert(orders).values(order);
    await tx.insert(orderLines).values(lines.map((line) => ({ ...line, orderId: order.id })));
  });
  response.status(201).json(order);
});

app.post('/orders/:id/pay', async ({ params }, response) => {
  const paid = await db.transaction(async (tx) => {
    const [order] = await tx
      .update(orders)
      .set({ status: 'PAID' })
      .where(and(eq(orders.id, params.id), eq(orders.status, 'OPEN')))
      .returning();
    if (order === undefined) throw new Refusal(409, 'The order is not open.');
    await append(fromDrizzle(tx, sql), orderPaid, order.customerId, { order });
    const payers = await tx
      .update(customers)
      .set({ balanceCents: sql`${customers.balanceCents} - ${order.totalCents}` })
      .where(and(eq(customers.id, order.customerId), gte(customers.balanceCents, order.totalCents)))
      .returning();
    // Rolls back the transaction, and the event with it.
    if (payers.length === 0) throw new Refusal(402, 'The balance is too low.');
    return order;
  });
  await wake(fromDrizzle(db, sql), paid.customerId);
  response.json(paid);
});

const shipment = z.object({ carrier: z.string() });

app.post('/orders/:id/ship', async ({ params, body }, response) => {
  const { carrier } = shipment.parse(body);
  const shipped = await db.transaction(async (tx) => {
    const [order] = await tx
      .update(orders)
      .set({ status: 'SHIPPED' })
      .where(and(eq(orders.id, params.id), eq(orders.status, 'PAID')))
      .returning();
    if (order === undefined) throw new Refusal(409, 'The order is not paid.');
    await append(fromDrizzle(tx, sql), orderShipped, order.customerId, { order, carrier });
    return order;
  });
  await wake(fromDrizzle(db, sql), shipped.customerId);
  response.json(shipped);
});

/** What the customer sends as headers to its API. The key is shown once. */
app.post('/customers/:id/api-keys', async ({ params }, response) => {
  const { rows } = await db.execute(
    sql`select * from deedwire.create_api_key('customer', ${params.id}, 'Of the shop')`,
  );
  response.status(201).json(rows[0]);
});

/** The page of a customer about its webhooks. */
app.get('/customers/:id/webhooks', async ({ params }, response) => {
  const { rows } = await db.execute<{ path: string }>(
    sql`select deedwire.create_portal_link('customer', ${params.id}, ${params.id}) as path`,
  );
  response.redirect(`${process.env.PORTAL_ORIGIN}/customer/${rows[0]?.path}`);
});

/** Express responds with its status. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
