/**
 * What a newcomer does with the README of the receiver kit: installs the package, pastes one block, starts it and subscribes it.
 * Then it receives a delivery of a running system, and once more because its first response was lost.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { convertReferral } from '@deedwire/actions';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { createTestDatabase, findFreePort } from '@deedwire/embedded-postgres';
import { connect, eventually, listen } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import type { TestContext } from 'vitest';
import { ReferDocument, SubscribeDocument } from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { npmInstall } from './installed-packages.ts';
import { tarballsOf } from './packed-packages.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** The kit and the packages that it depends on. */
export const kit = ['@deedwire/webhook-events', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];

const kitFolder = join(workspaceRoot, 'packages/webhook-receiver');
const readme = await readFile(join(kitFolder, 'README.md'), 'utf8');
export const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

export interface Row {
  framework: string;
  /** To install beside the kit. */
  packages: string[];
  block: string;
  /** Where the block is pasted. */
  file: string;
  start: string;
  /** The block exports a receiver with an inbox for referral.converted, which `serve.mjs` serves. */
  isInbox?: boolean;
}

/** The rows of the table of frameworks. The blocks have the same order. */
export const rows: Row[] = [...readme.matchAll(/^\| ([\w. ]+?) +\| (?:`(.*?)`)? +\| `(.*?)` +\| (.*?) +\|$/gm)].map(
  ([, framework = '', packages = '', file = '', start = ''], index) => ({
    framework,
    packages: packages.split(' ').filter((name) => name !== ''),
    block: blocks[index] ?? '',
    file,
    // The cell of a function says to deploy it, and names the file that serves it here.
    start: /^`(.*)`$/.exec(start)?.[1] ?? 'node local.mjs',
  }),
);

const fullFrameworks = new Set(['Next.js', 'Express', 'Node with PostgreSQL', 'AWS Lambda']);
/** The rows that `test/full` pastes. */
export const fullRows = rows.filter(({ framework }) => fullFrameworks.has(framework));
/** The rows that `test/long` pastes: the others. */
export const longRows = rows.filter((row) => !fullRows.includes(row));

/** The blocks that are no whole programs: those with an inbox. */
export const inboxRows: Row[] = ['graphile-worker', 'pg-boss'].map((library) => ({
  framework: library,
  packages: [library, 'pg'],
  block: blocks.find((code) => code.includes(`from '@deedwire/webhook-receiver/${library}'`)) ?? '',
  file: 'inbox.mjs',
  start: 'node serve.mjs',
  isInbox: true,
}));

const serveInbox = `
import { createServer } from 'node:http';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { pool, receiver } from './inbox.mjs';

await pool.query('create table if not exists conversion (matter_id text)');
createServer(nodeHandler(receiver)).listen(Number(process.env.PORT));
`;

/** The example that has the same block. PostgreSQL has none: its packages are in the manifest of the kit. */
export const examples: Record<string, string> = {
  Node: 'receiver-node',
  Express: 'receiver-express',
  Fastify: 'receiver-fastify',
  Hono: 'receiver-hono',
  'Next.js': 'receiver-next',
  'AWS Lambda': 'receiver-lambda',
  'Cloudflare Workers': 'receiver-workers',
};

interface Delivered {
  id: string;
  event: { type: string; data: { referralId: string } };
  status: number;
  result: unknown;
}

/** These belong to one connection, so they are not forwarded. */
const connectionHeaders = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

// A busy machine can need minutes to compile a framework.
const hangingMs = 300_000;

export interface Pasted {
  responses: { status: number; result: unknown }[];
  /** How often the receiver stored the referral or the conversion, or printed it. */
  effects: number;
}

/** The second attempt is the retry of a delivery whose first response was lost. */
export const processedOnce: Pasted = {
  responses: [
    { status: 200, result: { result: 'processed' } },
    { status: 200, result: { result: 'duplicate' } },
  ],
  effects: 1,
};

export const acceptedOnce: Pasted = {
  responses: [
    { status: 202, result: { result: 'accepted' } },
    { status: 200, result: { result: 'duplicate' } },
  ],
  effects: 1,
};

export interface Newcomer {
  /** Pastes the block of a row in an empty folder, runs it, and subscribes it. Returns after two attempts of one delivery. */
  paste(row: Row, onTestFinished: TestContext['onTestFinished']): Promise<Pasted>;
  close(): Promise<void>;
}

export async function startNewcomer(): Promise<Newcomer> {
  const relay = await startRelay();
  const database = await createTestDatabase({ template: 'newcomer', prepare: async () => {} });
  const [t, tarballs] = await Promise.all([startTestSystem(), tarballsOf(kit)]);

  return {
    async paste(row, onTestFinished) {
      const folder = await mkdtemp(join(tmpdir(), 'deedwire-newcomer-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, 'package.json'), '{ "private": true }');
      await npmInstall(folder, [...tarballs, ...(await versioned(row))]);
      await mkdir(dirname(join(folder, row.file)), { recursive: true });
      await writeFile(join(folder, row.file), row.block);
      if (row.start === 'node local.mjs')
        await cp(join(workspaceRoot, 'examples/receiver-lambda/local.mjs'), join(folder, 'local.mjs'));
      if (row.isInbox === true) await writeFile(join(folder, 'serve.mjs'), serveInbox);

      const port = String(await findFreePort());
      const url = `http://127.0.0.1:${port}/webhooks`;
      const webhookSecret = generateWebhookSecret();
      const output = run({
        command: row.start.replace('4005', port),
        cwd: folder,
        env: { DATABASE_URL: database.databaseUrl, PORT: port, WEBHOOK_SECRET: webhookSecret },
        onTestFinished,
      });
      await eventually(() => fetch(url), hangingMs).catch((cause: unknown) => {
        throw new Error(`The receiver does not listen:\n${output()}`, { cause });
      });

      const path = `/${port}`;
      relay.targets.set(path, url);
      const input = {
        callbackUrl: `http://127.0.0.1:${relay.port}${path}`,
        eventTypes: [{ type: row.isInbox === true ? 'referral.converted' : 'referral.created', version: '2026-11-01' }],
        webhookSecret,
      };
      const { createWebhookSubscription } = await t.partner.request(SubscribeDocument, { input });
      if (createWebhookSubscription.webhookSubscription?.status !== 'ACTIVE')
        throw new Error(`There is no active subscription: ${JSON.stringify(createWebhookSubscription)}`);
      const { createReferral } = await t.partner.request(ReferDocument, { input: { clientName: 'Grace Hopper' } });
      const referralId = createReferral.referral?.id ?? 'none';
      const matterId = row.isInbox === true ? (await convertReferral(t.operator, { referralId })).matterId : null;

      const attempts = await eventually(() => {
        const found = (relay.delivered.get(path) ?? []).filter(({ event }) => event.data.referralId === referralId);
        if (found.length < 2)
          throw new Error(`${found.length} of 2 attempts arrived. The receiver printed:\n${output()}`);
        return found;
      }, hangingMs);
      const responses = attempts.map(({ status, result }) => ({ status, result }));
      if (!row.packages.includes('pg')) {
        const printed = await eventually(() => {
          const [, ...after] = output().split(`referral.created ${referralId}`);
          if (after.length === 0) throw new Error(`The receiver did not print the referral:\n${output()}`);
          return after;
        });
        return { responses, effects: printed.length };
      }
      const connection = await connect(database.databaseUrl);
      onTestFinished(() => connection.close());
      if (matterId === null) {
        const stored = await connection.run('select id from referral where id = $1', [referralId]);
        return { responses, effects: stored.length };
      }
      const converted = await eventually(async () => {
        const found = await connection.run('select from conversion where matter_id = $1', [matterId]);
        if (found.length === 0) throw new Error(`The job did not end. The receiver printed:\n${output()}`);
        return found;
      }, hangingMs);
      return { responses, effects: converted.length };
    },
    async close() {
      await t.close();
      await relay.close();
      await database.drop();
    },
  };
}

/** Forwards requests to receivers. */
interface Relay {
  port: number;
  /** The URL of a receiver, by the path of its callback URL. */
  targets: Map<string, string>;
  /** By the path of the callback URL. */
  delivered: Map<string, Delivered[]>;
  close(): Promise<void>;
}

/** The response to the first attempt of each delivery is lost, so that the worker retries. */
async function startRelay(): Promise<Relay> {
  const targets = new Map<string, string>();
  const delivered = new Map<string, Delivered[]>();

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '' } = request;
    const body = Buffer.concat(await request.toArray());
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(request.headersDistinct))
      if (!connectionHeaders.has(name)) for (const value of values) headers.append(name, value);
    const answer = await fetch(targets.get(path) ?? '', { method: 'POST', headers, body });
    const text = await answer.text();
    if (headers.has('x-service-webhook-event')) {
      const id = headers.get('webhook-id') ?? '';
      const earlier = delivered.get(path) ?? [];
      const event = JSON.parse(body.toString());
      delivered.set(path, [...earlier, { event, id, status: answer.status, result: JSON.parse(text) }]);
      if (!earlier.some((other) => other.id === id)) return void response.destroy();
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  const server = await listen(
    createServer((request, response) => {
      forward(request, response).catch(() => response.destroy());
    }),
  );
  return { port: server.port, targets, delivered, close: () => server.close() };
}

/** The packages of a row, each at the version of the lockfile, or at the version that the example pins. */
async function versioned({ framework, packages }: Row): Promise<string[]> {
  const example = examples[framework];
  const manifest =
    example === undefined
      ? {}
      : JSON.parse(await readFile(join(workspaceRoot, 'examples', example, 'package.json'), 'utf8'));
  return Promise.all(
    packages.map(async (name) => {
      const installed = await readFile(join(kitFolder, 'node_modules', name, 'package.json'), 'utf8').catch(() => null);
      if (installed !== null) return `${name}@${JSON.parse(installed).version}`;
      return `${name}@${manifest.dependencies[name] ?? manifest.devDependencies[name]}`;
    }),
  );
}

interface Run {
  command: string;
  cwd: string;
  env: Record<string, string>;
  onTestFinished: TestContext['onTestFinished'];
}

/** Runs a command in a shell and returns a function for its output. It is killed after the test, with all that it started. */
function run({ command, cwd, env, onTestFinished }: Run): () => string {
  const child = spawn('sh', ['-c', command], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', WRANGLER_SEND_METRICS: 'false', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  });
  return () => output;
}
