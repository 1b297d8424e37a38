import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase, findFreePort } from '@deedwire/embedded-postgres';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { root } from './run-bench.ts';

interface Message {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A program of `src/receivers`, which receives the messages of one sender with a kit for them. */
export interface Receiver {
  readonly name: string;
  readonly secret: string;
  /** Where its handler inserts a row with the id of what the message is about. */
  readonly table: string;
  /** A signed message with an id. That of another type has no handler. */
  readonly message: (id: number, isOfOtherType?: boolean) => Message;
  /** The signed handshake of its sender. Undefined if it has none. */
  readonly handshake?: () => Message;
  /** Of the response to a message without a handler. */
  readonly unhandledStatus: number;
}

export const secret = generateWebhookSecret();

const fixture = join(root, 'packages/webhook-events/fixtures/referral.created/2026-11-01/accept/typical.json');
const typical: { type: string; data: object } = JSON.parse(await readFile(fixture, 'utf8'));

function signed(body: string, id: string): Message {
  return {
    headers: signWebhook({ prefix: 'X-Service', id, timestamp: Math.floor(Date.now() / 1000), body, secret }),
    body,
  };
}

const deedwire: Omit<Receiver, 'name'> = {
  secret,
  table: 'referral',
  message: (id, isOfOtherType = false) =>
    signed(
      JSON.stringify({
        ...typical,
        type: isOfOtherType ? 'referral.archived' : typical.type,
        data: { ...typical.data, referralId: `gid://service/Referral/${id}` },
      }),
      `delivery_${id}`,
    ),
  handshake: () => signed('{"verification_token":"a-token-of-a-test-0123456789"}', 'handshake'),
  unhandledStatus: 200,
};

/** With the secret as the key, as Stripe, GitHub and Shopify sign. */
export const hmac = (text: string): ReturnType<typeof createHmac> => createHmac('sha256', secret).update(text);

export const receivers: readonly Receiver[] = [
  { name: 'webhook-receiver', ...deedwire },
  { name: 'svix', ...deedwire },
  {
    name: 'stripe',
    secret,
    table: 'customer',
    unhandledStatus: 200,
    message(id, isOfOtherType = false) {
      const type = isOfOtherType ? 'customer.deleted' : 'customer.created';
      const body = JSON.stringify({ id: `evt_${id}`, object: 'event', type, data: { object: { id: `cus_${id}` } } });
      const seconds = Math.floor(Date.now() / 1000);
      const signature = hmac(`${seconds}.${body}`).digest('hex');
      return { headers: { 'stripe-signature': `t=${seconds},v1=${signature}` }, body };
    },
  },
  {
    name: 'octokit',
    secret,
    table: 'issue',
    unhandledStatus: 200,
    message(id, isOfOtherType = false) {
      const body = JSON.stringify({ action: isOfOtherType ? 'closed' : 'opened', issue: { id } });
      const signature = `sha256=${hmac(body).digest('hex')}`;
      const headers = {
        'content-type': 'application/json',
        'x-github-delivery': `delivery_${id}`,
        'x-github-event': 'issues',
        'x-hub-signature-256': signature,
      };
      return { headers, body };
    },
  },
  {
    name: 'shopify',
    secret,
    table: 'product',
    unhandledStatus: 404,
    message(id, isOfOtherType = false) {
      const body = JSON.stringify({ id });
      const headers = {
        'x-shopify-api-version': '2026-10',
        'x-shopify-hmac-sha256': hmac(body).digest('base64'),
        'x-shopify-shop-domain': 'shop.example',
        'x-shopify-topic': isOfOtherType ? 'products/delete' : 'products/create',
        'x-shopify-webhook-id': `delivery_${id}`,
      };
      return { headers, body };
    },
  },
];

const fileOf = (name: string): string => join(root, 'bench/src/receivers', `${name}.mjs`);

/** How many lines a program has that are neither empty nor a comment. */
export async function linesOf(name: string): Promise<number> {
  const lines = (await readFile(fileOf(name), 'utf8')).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('//')).length;
}

export interface RunningReceiver {
  /** Resolves with the status and the body of the response. */
  readonly send: (message: Message) => Promise<{ status: number; text: string }>;
  readonly run: (statement: string) => Promise<unknown[]>;
  readonly child: ChildProcess;
}

/** Runs a program until the end of the test. */
export async function startReceiver({ name, secret: WEBHOOK_SECRET }: Receiver): Promise<RunningReceiver> {
  const database = await createTestDatabase({ template: 'receivers', prepare: async () => {} });
  onTestFinished(() => database.drop());
  const pool = new Pool({ connectionString: database.databaseUrl, max: 1 });
  onTestFinished(() => pool.end());
  const port = await findFreePort();
  const child = spawn(process.execPath, ['--conditions=deedwire-source', fileOf(name)], {
    env: {
      DATABASE_URL: database.databaseUrl,
      PORT: String(port),
      WEBHOOK_SECRET,
      STRIPE_API_KEY: 'sk_test_unused',
      SHOPIFY_API_KEY: 'unused',
      HOST_NAME: 'receiver.example',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}/webhooks`;
  while ((await fetch(url).catch(() => null)) === null)
    if (child.exitCode !== null) throw new Error(`${name} has ended:\n${printed}`);
  return {
    async send({ headers, body }) {
      const response = await fetch(url, { method: 'POST', headers, body });
      return { status: response.status, text: await response.text() };
    },
    run: async (statement) => (await pool.query(statement)).rows,
    child,
  };
}
