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
import { connect, eventually, listen, missing } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import type { TestContext } from 'vitest';
import { ReferDocument, SubscribeDocument } from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { succeed } from './command.ts';
import { npmInstall } from './installed-packages.ts';
import type { Row } from './newcomer-row.ts';
import { examples } from './newcomer-rows.ts';
import { tarballsOf } from './packed-packages.ts';
import { createPartnerAccounts } from './partner-accounts.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** The kit and the packages that it depends on. */
const kit = ['@deedwire/webhook-events', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];
const kitFolder = join(workspaceRoot, 'packages/webhook-receiver');

interface Delivered {
  id: string;
  event: { type: string; data: { referralId: string } };
  status: number;
  result: unknown;
  send(): Promise<Response>;
}

/** What waits in the inbox of version 1. */
const waitingEvent = await readFile(
  join(workspaceRoot, 'packages/webhook-events/fixtures/referral.converted/2026-11-01/accept/typical.json'),
  'utf8',
);

/** These belong to one connection, so they are not forwarded. */
const connectionHeaders = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

// A busy machine can need minutes to compile a framework.
const hangingMs = 300_000;

export interface Pasted {
  responses: { status: number; result: unknown }[];
  /** How often the receiver stored the referral or the conversion, or printed it. */
  effects: number;
  /** What the command of the row printed. */
  printed?: string;
  /** The response to the delivery that is repeated after this command. */
  repeated?: unknown;
}

/** The second attempt is the retry of a delivery whose first response was lost. */
export const processedOnce: Pasted = {
  responses: [
    { status: 200, result: { result: 'processed' } },
    { status: 200, result: { result: 'duplicate' } },
  ],
  effects: 1,
};

/** What is printed and repeated beside that, by the framework of a row. */
const beside: Readonly<Record<string, Partial<Pasted>>> = {
  Express: { printed: "200 [ 'Quay Lending' ]\n" },
  'Node with PostgreSQL': { printed: 'Forgot 1 deliveries.\n', repeated: { result: 'processed' } },
  Prisma: { printed: 'done\n' },
};

export function processedOnceBy({ framework }: Row): Pasted {
  return { ...processedOnce, ...beside[framework] };
}

export const keptOnce: Pasted = {
  responses: [
    { status: 202, result: { result: 'kept' } },
    { status: 202, result: { result: 'kept' } },
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
  const [t, tarballs] = await Promise.all([startTestSystem(), tarballsOf(kit)]);

  return {
    async paste(row, onTestFinished) {
      const folder = await mkdtemp(join(tmpdir(), 'deedwire-newcomer-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const database = await createTestDatabase({ template: 'newcomer', prepare: async () => {} });
      const { databaseUrl } = database;
      onTestFinished(() => database.drop());
      const manifest = { private: true, ...(row.file === 'store.ts' && { type: 'module' }) };
      await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
      await npmInstall(folder, [...tarballs, ...(await versioned(row))]);
      await mkdir(dirname(join(folder, row.file)), { recursive: true });
      await writeFile(join(folder, row.file), row.block);
      if (row.start === 'node local.mjs')
        await cp(join(workspaceRoot, 'examples/receiver-lambda/local.mjs'), join(folder, 'local.mjs'));
      for (const [name, text] of Object.entries(row.otherFiles ?? {})) await writeFile(join(folder, name), text);

      const [port, redisPort] = [String(await findFreePort()), String(await findFreePort())];
      const url = `http://127.0.0.1:${port}/webhooks`;
      const webhookSecret = generateWebhookSecret();
      const env = {
        DATABASE_URL: databaseUrl,
        PORT: port,
        REDIS_PORT: redisPort,
        REDIS_URL: `redis://127.0.0.1:${redisPort}`,
        WAITING: waitingEvent,
        WEBHOOK_SECRET: webhookSecret,
      };
      const { output, hasEnded } = run({
        command: row.start.replace('4005', port),
        cwd: folder,
        env,
        onTestFinished,
      });
      const listening = await eventually(async () => hasEnded() || (await fetch(url)), hangingMs);
      if (listening === true) throw new Error(`The receiver has ended:\n${output()}`);

      const path = `/${port}`;
      relay.targets.set(path, url);
      const input = {
        callbackUrl: `http://127.0.0.1:${relay.port}${path}`,
        eventTypes: [{ type: row.isInbox === true ? 'referral.converted' : 'referral.created', version: '2026-11-01' }],
        webhookSecret,
      };
      const [{ client } = missing()] = await createPartnerAccounts(t, 1);
      const { createWebhookSubscription } = await client.request(SubscribeDocument, { input });
      if (createWebhookSubscription.webhookSubscription?.status !== 'ACTIVE')
        throw new Error(`There is no active subscription: ${JSON.stringify(createWebhookSubscription)}`);
      const { createReferral } = await client.request(ReferDocument, { input: { clientName: 'Grace Hopper' } });
      const referralId = createReferral.referral?.id ?? 'none';
      const matterId = row.isInbox === true ? (await convertReferral(t.operator, { referralId })).matterId : null;

      const attempts = await eventually(() => {
        const found = (relay.delivered.get(path) ?? []).filter(({ event }) => event.data.referralId === referralId);
        if (found.length < 2)
          throw new Error(`${found.length} of 2 attempts arrived. The receiver printed:\n${output()}`);
        return found;
      }, hangingMs);
      const responses = attempts.map(({ status, result }) => ({ status, result }));
      const connection = await connect(databaseUrl);
      onTestFinished(() => connection.close());
      const countEffects = async (): Promise<number> => {
        if (row.effects === undefined) return output().split(`referral.created ${referralId}`).length - 1;
        return (await connection.run(row.effects, [matterId ?? referralId])).length;
      };
      // A job ends later than the response.
      const effects = await eventually(async () => {
        const count = await countEffects();
        if (count === 0) throw new Error(`There is no effect. The receiver printed:\n${output()}`);
        return count;
      }, hangingMs);
      if (row.afterwards === undefined) return { responses, effects };
      const printed = (await succeed('sh', ['-c', row.afterwards], { cwd: folder, env })).replace(referralId, 'the id');
      if (row.isRepeated !== true) return { responses, effects, printed };
      // Their key would refuse the second effect.
      await connection.run('delete from referral');
      return { responses, effects, printed, repeated: await relay.repeat(path) };
    },
    async close() {
      await t.close();
      await relay.close();
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
  /** Sends the last delivery to this path once more. Resolves with the body of the response. */
  repeat(path: string): Promise<unknown>;
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
    const send = () => fetch(targets.get(path) ?? '', { method: 'POST', headers, body });
    const answer = await send();
    const text = await answer.text();
    if (headers.has('x-service-webhook-event')) {
      const id = headers.get('webhook-id') ?? '';
      const earlier = delivered.get(path) ?? [];
      const event = JSON.parse(body.toString());
      delivered.set(path, [...earlier, { event, id, status: answer.status, result: JSON.parse(text), send }]);
      if (!earlier.some((other) => other.id === id)) return void response.destroy();
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  const server = await listen(
    createServer((request, response) => {
      forward(request, response).catch(() => response.destroy());
    }),
  );
  return {
    port: server.port,
    targets,
    delivered,
    async repeat(path) {
      const response = await delivered.get(path)?.at(-1)?.send();
      return response?.json();
    },
    close: () => server.close(),
  };
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
      if (name.includes('@', 1)) return name;
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

/** Runs a command in a shell. It is killed after the test, with all that it started. */
function run({ command, cwd, env, onTestFinished }: Run): { output: () => string; hasEnded: () => boolean } {
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
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // All have ended.
    }
    await ended;
  });
  return { output: () => output, hasEnded: () => child.exitCode !== null };
}
