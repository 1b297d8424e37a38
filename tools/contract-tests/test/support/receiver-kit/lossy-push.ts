import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness } from '@deedwire/dev-environment/harness';
import { createTestDatabase, findFreePort } from '@deedwire/embedded-postgres';
import { connect, eventually, listen } from '@deedwire/testing';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { Pool } from 'pg';
import { expect, onTestFinished } from 'vitest';
import * as events from '../order-events.ts';
import type { ReconcileProcessOptions } from './reconcile-process.ts';

/** A database with the tables of the kit and those of `statement`. */
export async function receiverDatabase(statement: string) {
  const database = await createTestDatabase({
    template: 'reconcile',
    async prepare(databaseUrl) {
      const pool = new Pool({ connectionString: databaseUrl });
      await postgresStore(pool).createTable();
      await pool.end();
    },
  });
  const connection = await connect(database.databaseUrl);
  await connection.run(statement);
  onTestFinished(async () => {
    await connection.close();
    await database.drop();
  });
  return { databaseUrl: database.databaseUrl, run: (text: string) => connection.run(text) };
}

export async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export interface LossyPush {
  /** How many events are pushed at first. The proxy loses one of 20. */
  events: number;
  /** How often the receiver is killed while it reconciles and 10 further events are pushed. */
  kills: number;
  /** When the receiver is killed, after the events were pushed. */
  killAfterMs: (round: number) => number;
}

/**
 * Pushes events through a proxy that answers 200 and drops some, and reconciles them while push goes on and the receiver is
 * killed. Expects that each event has one effect, and that exactly the lost ones were pulled.
 *
 * @param url of the customer interface
 */
export async function reconcileLossyPush(t: Harness, url: string, { events: pushed, kills, killAfterMs }: LossyPush) {
  const database = await receiverDatabase('create table effect (delivery_id text not null, source text not null)');
  const port = await findFreePort();
  let isLosing = true;
  const lost = new Set<string>();
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers } = request;
    const body = await buffer(request);
    if (isLosing && Number(headers['x-service-webhook-sequence']) % 20 === 7) {
      lost.add(String(headers['webhook-id']));
      response.end();
      return;
    }
    const passed = Object.entries(headers).filter(([name]) => /^(?:x-service-)?webhook-/.test(name));
    const init = { method: 'POST', headers: Object.fromEntries(passed.map(([name, value]) => [name, String(value)])) };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { ...init, body }).catch(() => null);
    const text = await answer?.text().catch(() => null);
    response.writeHead(typeof text === 'string' ? (answer?.status ?? 502) : 502).end(text ?? '');
  };
  // Answers 200 for every twentieth delivery, and drops it.
  const proxy = await listen(createServer((request, response) => void pass(request, response)));
  onTestFinished(() => proxy.close());
  // Answers the handshake.
  const awaiting = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [],
    awaitingSecret: true,
    store: memoryStore(),
    on: {},
  });
  const handshake = await listen(createServer(nodeHandler(awaiting)), port);
  const subscription = await t.subscribe(`http://127.0.0.1:${proxy.port}/`, ['order.placed']);
  await handshake.close();
  const { credential: credentials } = t.accounts.customer;
  const start = async (boundaryMs: number | null): Promise<ChildProcess> => {
    const options: ReconcileProcessOptions = {
      databaseUrl: database.databaseUrl,
      port,
      secret: subscription.secret,
      url,
      credentials,
      subscriptionId: subscription.id,
      boundaryMs,
    };
    const child = fork(new URL('reconcile-process.ts', import.meta.url), [JSON.stringify(options)], {
      execArgv: ['--conditions=deedwire-source'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    return child;
  };
  const isDelivered = (count: number): Promise<void> =>
    eventually(async () => {
      const [row] = await t.sql(
        `select (select count(*)::int from webhook_pending_delivery) as pending, (select max(last_sequence)::int from webhook_subscription_sequence) as last`,
      );
      expect(row).toEqual({ pending: 0, last: count });
    }, 180_000);

  let child = await start(null);
  await t.place(pushed);
  await isDelivered(pushed);
  expect(lost.size).toBe(pushed / 20);
  await kill(child);
  isLosing = false;
  const boundaryMs = Math.ceil((Date.now() + 1) / 1_000) * 1_000;
  await sleep(boundaryMs + 10 - Date.now());

  // From here on, the receiver reconciles while push goes on.
  for (let round = 0; round < kills; round += 1) {
    child = await start(boundaryMs);
    await t.place(10);
    await sleep(killAfterMs(round));
    await kill(child);
  }
  child = await start(boundaryMs);
  const all = pushed + kills * 10;
  await isDelivered(all);
  const effects = () => database.run('select delivery_id, source from effect');
  await eventually(async () => expect(await effects()).toHaveLength(all));
  const pulled = (await effects()).filter(({ source }) => source === 'pull').map((row) => String(row['delivery_id']));
  expect(pulled.toSorted()).toEqual([...lost].toSorted());
  expect(new Set((await effects()).map((row) => row['delivery_id'])).size).toBe(all);
  await kill(child);
  return { database, subscription, all, lost, pulled };
}
