import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect, eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { createReceiverTables, type Effect } from './effects.ts';

/** The database of a receiver. */
export interface ReceiverDatabase {
  databaseUrl: string;
  effects(): Promise<Effect[]>;
  /** How many handlers were called, whether or not their transaction was committed. */
  started(): Promise<number>;
  /** Resolves once `count` more effects are committed. */
  waitForMore(count: number): Promise<void>;
  close(): Promise<void>;
}

// Guards against hanging only: after a third failure, a retry waits for up to 54 s.
const waitTimeoutMs = 120_000;

export async function createReceiverDatabase(): Promise<ReceiverDatabase> {
  const database = await createTestDatabase({ template: 'receiver_kit', prepare: createReceiverTables });
  const connection = await connect(database.databaseUrl);

  async function count(table: 'effect' | 'started'): Promise<number> {
    const [row] = await connection.run(`select count(*)::int as rows from ${table}`);
    return Number(row?.['rows']);
  }

  return {
    databaseUrl: database.databaseUrl,
    async effects() {
      const rows = await connection.run('select delivery_id, event_id, order_id from effect');
      return rows.map((row) => ({
        deliveryId: String(row['delivery_id']),
        eventId: String(row['event_id']),
        orderId: String(row['order_id']),
      }));
    },
    started: () => count('started'),
    async waitForMore(more) {
      const target = (await count('effect')) + more;
      await eventually(async () => expect(await count('effect')).toBeGreaterThanOrEqual(target), waitTimeoutMs);
    },
    async close() {
      await connection.close();
      await database.drop();
    },
  };
}
