import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, StoreUnavailableError } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));

const insertPayload = (eventId: string): Promise<unknown> =>
  store.query({ name: 'payload', text: `insert into webhook_payload values ($1, '2026-11-01', 'customer', '')` }, [
    eventId,
  ]);

test('reports a day without a partition as unavailable', async () => {
  const error: unknown = await insertPayload('9223372036854775807').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect(error).toMatchObject({ reason: '23514' });
});

test('reports a violated check constraint as it is', async () => {
  const violation = store.query({ name: 'shard', text: 'insert into webhook_shard (shard) values ($1)' }, [64]);
  await expect(violation).rejects.toMatchObject({ code: '23514', constraint: 'webhook_shard_shard_check' });
});
