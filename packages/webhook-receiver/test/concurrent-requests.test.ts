import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { missing } from '@deedwire/testing';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { postgresStore } from '../src/postgres.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../src/receiver.ts';
import { redisStore } from '../src/redis.ts';
import { nodeAdapter } from './support/adapters.ts';
import { deliveryOf, secret } from './support/delivery.ts';
import { isWithoutRedis, startRedis } from './support/redis-server.ts';
import { Subject } from './support/subject.ts';

/** Sends 50 requests with one id at once, in turns to each receiver, and one more afterwards. */
async function expectOneResult(subjects: readonly Subject[]): Promise<void> {
  const delivery = deliveryOf();
  const answers = await Promise.all(
    Array.from({ length: 50 / subjects.length }, () => subjects.map((subject) => subject.send(delivery))).flat(),
  );
  expect(answers).toHaveLength(50);
  expect(answers.filter(({ text }) => text === '{"result":"processed"}')).toHaveLength(1);
  for (const { status, json } of answers)
    expect([
      { status: 200, json: { result: 'processed' } },
      { status: 200, json: { result: 'duplicate' } },
      { status: 409, json: { code: 'BUSY' } },
      // On a busy machine, a delivery can wait for its turn for more than 2 seconds.
      { status: 503, json: { code: 'STORE_UNAVAILABLE' } },
    ]).toContainEqual({ status, json });
  for (const subject of subjects)
    expect(await subject.send(delivery)).toMatchObject({ status: 200, json: { result: 'duplicate' } });
  await Promise.all(subjects.map((subject) => subject.stop()));
}

test('has one effect for 50 concurrent requests with the memory store', async () => {
  const subject = await Subject.start(nodeAdapter);
  subject.work = () => sleep(50);
  await expectOneResult([subject]);
  expect(subject.handled).toHaveLength(1);
});

function receiverOn(pool: Pool): WebhookReceiver {
  return createWebhookReceiver({
    secrets: [secret],
    store: postgresStore(pool),
    on: {
      'referral.converted': {
        '2026-11-01': async (_event, { id, transaction }) => {
          await transaction.query('insert into effect values ($1)', [id]);
          await sleep(50);
        },
      },
    },
  });
}

test('has one effect for 50 concurrent requests to two receivers with the PostgreSQL store', async () => {
  const database = await createTestDatabase({
    template: 'webhook_receiver_concurrent',
    async prepare(databaseUrl) {
      const pool = new Pool({ connectionString: databaseUrl });
      await postgresStore(pool).createTable();
      await pool.query('create table effect (delivery_id text not null)');
      await pool.end();
    },
  });
  const pools = [0, 1].map(() => new Pool({ connectionString: database.databaseUrl, max: 10 }));
  await expectOneResult(
    await Promise.all(pools.map((pool) => Subject.start(nodeAdapter, { create: () => receiverOn(pool) }))),
  );
  const { rowCount } = await (pools[0] ?? missing()).query('select from effect');
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
  expect(rowCount).toBe(1);
});

test.skipIf(isWithoutRedis)(
  'has one effect for 50 concurrent requests to two receivers with the Redis store',
  async () => {
    const redis = await startRedis();
    const subjects = await Promise.all(
      ['first', 'second'].map(() =>
        Subject.start(nodeAdapter, {
          create: (options) =>
            createWebhookReceiver({
              ...options,
              store: redisStore({ send: ([name, ...parameters]) => redis.client.call(name, ...parameters) }),
            }),
        }),
      ),
    );
    for (const subject of subjects) subject.work = () => sleep(50);
    await expectOneResult(subjects);
    await redis.remove();
    expect(subjects.flatMap(({ handled }) => handled)).toHaveLength(1);
  },
);
