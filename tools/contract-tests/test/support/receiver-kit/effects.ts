import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool, type PoolClient } from 'pg';
import type { OrderPlaced } from '../order-events.ts';

/** A change that a handler made. Nothing in the database prevents that there are two of one delivery. */
export interface Effect {
  deliveryId: string;
  eventId: string;
  orderId: string;
}

export async function createReceiverTables(databaseUrl: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl });
  await postgresStore(pool).createTable();
  await pool.query('create table effect (delivery_id text not null, event_id text not null, order_id text not null)');
  // Handlers that were called, whether or not their transaction was committed.
  await pool.query('create table started (delivery_id text not null)');
  await pool.end();
}

export async function recordStart(pool: Pool, deliveryId: string): Promise<void> {
  await pool.query('insert into started (delivery_id) values ($1)', [deliveryId]);
}

export async function recordEffect(transaction: PoolClient, deliveryId: string, event: OrderPlaced): Promise<void> {
  await transaction.query('insert into effect (delivery_id, event_id, order_id) values ($1, $2, $3)', [
    deliveryId,
    event.id,
    event.data.orderId,
  ]);
}
