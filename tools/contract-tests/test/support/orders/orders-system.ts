import { randomBytes } from 'node:crypto';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { acknowledge, connect, eventually, missing, startReceiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { succeed } from '../command.ts';
import { command, type Program, type ProgramName, programNames, startProgram } from './orders-programs.ts';
import { deliveredOrders, expectDelivered, type Payment, startTraffic, type Traffic } from './orders-traffic.ts';

const balanceCents = 2_000_000_000;

/**
 * Starts the three processes of an installed example on a database as its README creates it, with a customer who has subscribed to
 * `order.paid`.
 *
 * @param settings variables of the processes
 */
export async function startOrders(folder: string, settings: Readonly<Record<string, string>> = {}) {
  const server = await startPostgres();
  await withClient(server.url, async (client) => {
    await client.query(`create role shop login password 'secret'`);
    await client.query('create database shop owner shop');
  });
  const url = new URL(server.url);
  Object.assign(url, { username: 'shop', password: 'secret', pathname: '/shop' });
  const env = {
    DATABASE_URL: url.href,
    // On a busy machine, any statement can be slow.
    DATABASE_TIMEOUT_MS: '20000',
    LOG_LEVEL: 'error',
    NODE_ENV: 'development',
    WEBHOOK_CALLBACK_POLICY: 'development',
    WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ...settings,
  };
  const receiver = await startReceiver({
    // Some requests are in flight when a worker ends.
    onDelivery: (response, request) => void setTimeout(() => acknowledge(response, request), Math.random() * 20),
  });
  const observer = await connect(url.href);

  const started: Program[] = [];
  const current = new Map<ProgramName, Program>();
  async function start(name: ProgramName, from: string): Promise<void> {
    const program = await startProgram(from, name, env);
    started.push(program);
    current.set(name, program);
  }
  const programOf = (name: ProgramName): Program => current.get(name) ?? missing();
  const urlOf = (name: ProgramName): string => programOf(name).url;
  const migrate = (from: string): Promise<string> =>
    succeed(process.execPath, [command, 'migrate'], { cwd: from, env });

  await migrate(folder);
  await succeed(process.execPath, ['src/create-tables.ts'], { cwd: folder, env });
  for (const name of programNames) await start(name, folder);

  const { id: customerId } = await post(`${urlOf('shop')}/customers`, { name: 'Ada', balanceCents });
  const key = await post(`${urlOf('shop')}/customers/${customerId}/api-keys`, {});
  const headers = {
    'X-Shop-Client-Id': key['client_id'],
    'X-Shop-API-Key': key['api_key'],
    'X-Shop-Organization-Id': key['organization_id'],
  };
  const ask = (query: string) => post(`${urlOf('customer-api')}/customer/graphql`, { query }, headers);
  const subscribed = await ask(`mutation {
    createWebhookSubscription(input: { callbackUrl: "${receiver.url}", eventTypes: [{ type: "order.paid" }] }) {
      userErrors { message }
    }
  }`);
  expect(subscribed).toMatchObject({ data: { createWebhookSubscription: { userErrors: [] } } });

  async function pay(isTooExpensive = false): Promise<Payment> {
    const lines = [{ product: 'tea', quantity: 1, priceCents: isTooExpensive ? balanceCents + 1 : 1 }];
    const { id: orderId } = await post(`${urlOf('shop')}/customers/${customerId}/orders`, { lines });
    const response = await fetch(`${urlOf('shop')}/orders/${orderId}/pay`, { method: 'POST' });
    await response.arrayBuffer();
    return { orderId, status: response.status };
  }

  return {
    receiver,
    migrate,
    startTraffic: (everyMs: number): Traffic => startTraffic(pay, everyMs),
    /** Ends a process with SIGKILL, and starts it again. */
    async kill(name: ProgramName): Promise<void> {
      await programOf(name).end('SIGKILL');
      await start(name, folder);
    },
    /** Starts a process of another folder beside the one that serves, which then ends. Resolves with how it ended. */
    async replace(name: ProgramName, from: string, traffic: Traffic): Promise<number | string | null> {
      const previous = programOf(name);
      await start(name, from);
      await traffic.drain();
      return previous.end('SIGTERM');
    },
    /** Pays an order, and resolves when its event has arrived. */
    async passEvent(): Promise<void> {
      const { orderId, status } = await pay();
      expect(status).toBe(200);
      await eventually(() => expect(deliveredOrders(receiver).has(orderId)).toBe(true));
    },
    /** Expects that the API of the customer answers. */
    async readSubscription(): Promise<void> {
      const read = await ask('{ webhookSubscriptions { nodes { status } } }');
      expect(read).toMatchObject({ data: { webhookSubscriptions: { nodes: [{ status: 'ACTIVE' }] } } });
    },
    /** Expects what the shop promises of the payments that it has confirmed, and of all that are in the database. */
    async expectDelivered(paid: readonly string[]): Promise<void> {
      const rows = await observer.run(`select id::text from "order" where status = 'PAID'`);
      const committed = rows.map(({ id }) => String(id));
      expect(paid.filter((id) => !committed.includes(id))).toEqual([]);
      await expectDelivered(receiver, committed);
    },
    async close() {
      for (const program of started) await program.end('SIGKILL');
      await observer.close();
      await receiver.close();
      await server.stop();
    },
  };
}

/** @throws {Error} if the response has an error */
async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text}`);
  return JSON.parse(text);
}
