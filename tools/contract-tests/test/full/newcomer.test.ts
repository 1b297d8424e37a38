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
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { createTestDatabase, findFreePort, type TestDatabase } from '@deedwire/embedded-postgres';
import { connect, eventually, listen, type Listening } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, test, vi, type TestContext } from 'vitest';
import { ReferDocument, SubscribeDocument } from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { succeed } from '../support/command.ts';
import { npmInstall, packPackages } from '../support/installed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const kitFolder = join(workspaceRoot, 'packages/webhook-receiver');
const readme = await readFile(join(kitFolder, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

interface Row {
  framework: string;
  /** To install beside the kit. */
  packages: string[];
  /** Where the block is pasted. */
  file: string;
  start: string;
}

/** The rows of the table of frameworks. The blocks have the same order. */
const rows: Row[] = [...readme.matchAll(/^\| ([\w. ]+?) +\| (?:`(.*?)`)? +\| `(.*?)` +\| (.*?) +\|$/gm)].map(
  ([, framework = '', packages = '', file = '', start = '']) => ({
    framework,
    packages: packages.split(' ').filter((name) => name !== ''),
    file,
    // The cell of a function says to deploy it, and names the file that serves it here.
    start: /^`(.*)`$/.exec(start)?.[1] ?? 'node local.mjs',
  }),
);

/** The example that has the same block. PostgreSQL has none: its packages are in the manifest of the kit. */
const examples: Record<string, string> = {
  Node: 'receiver-node',
  Express: 'receiver-express',
  Fastify: 'receiver-fastify',
  Hono: 'receiver-hono',
  'Next.js': 'receiver-next',
  'AWS Lambda': 'receiver-lambda',
  'Cloudflare Workers': 'receiver-workers',
};

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

interface Delivered {
  id: string;
  event: { type: string; data: { referralId: string } };
  status: number;
  result: unknown;
}

let t: TestSystem;
/** The database of a newcomer. */
let database: TestDatabase;
let relay: Listening;
let tarballFolder = '';
let tarballs: string[] = [];
/** By the path of the callback URL. */
const targets = new Map<string, string>();
const delivered = new Map<string, Delivered[]>();

/** These belong to one connection, so they are not forwarded. */
const connectionHeaders = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

/** Forwards a request to a receiver. The response to the first attempt of a delivery is lost, so that the worker retries. */
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

beforeAll(async () => {
  tarballFolder = await mkdtemp(join(tmpdir(), 'deedwire-tarballs-'));
  relay = await listen(
    createServer((request, response) => {
      forward(request, response).catch(() => response.destroy());
    }),
  );
  const names = ['@deedwire/webhook-events', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];
  database = await createTestDatabase({ template: 'newcomer', prepare: async () => {} });
  [t, tarballs] = await Promise.all([startTestSystem(), packPackages(names, tarballFolder)]);
});

afterAll(async () => {
  await t.close();
  await relay.close();
  await database.drop();
  await rm(tarballFolder, { recursive: true });
});

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

test('each example has the packages and the start command of its row', async ({ expect }) => {
  expect(rows.map(({ framework }) => framework)).toEqual([...Object.keys(examples), 'Node with PostgreSQL']);
  const found = await Promise.all(
    Object.values(examples).map(async (example) => {
      const path = join(workspaceRoot, 'examples', example, 'package.json');
      const { dependencies, devDependencies, scripts } = JSON.parse(await readFile(path, 'utf8'));
      return { packages: Object.keys({ ...dependencies, ...devDependencies }).toSorted(), start: scripts.start };
    }),
  );
  const expected = rows.slice(0, -1).map(({ packages, start }) => ({
    packages: ['@deedwire/webhook-receiver', ...packages].toSorted(),
    start: start.replace(/^npx /, ''),
  }));
  expect(found).toEqual(expected);
});

/** The release of Prisma that the README names. It is not in the lockfile: its command line installs 300 MB. */
const prismaRelease = '7.10.0';

const prismaSchema = `
generator client {
  provider = "prisma-client"
  output   = "./generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model Referral {
  id String @id
  @@map("referral")
}
`;

/** Asserts as a consumer's process, and prints `done`. */
const prismaScript = `
import assert from 'node:assert/strict';
import { WorkFailedError } from '@deedwire/webhook-receiver';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';
import { prismaStore } from './prisma.ts';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] ?? '' }) });
await prisma.$executeRawUnsafe('create table referral (id text primary key)');
const store = prismaStore(prisma);
await store.createTable();
const effect = async (transaction: Parameters<Parameters<typeof store.once>[1]>[0]): Promise<void> => {
  await transaction.referral.create({ data: { id: 'stored' } });
};

await assert.rejects(store.once('a', async (transaction) => {
  await effect(transaction);
  throw new RangeError('failed');
}), RangeError);
await assert.rejects(store.once('a', async (transaction) => {
  await effect(transaction);
  await transaction.$queryRawUnsafe('select 1/0').catch(() => {});
}), WorkFailedError);
assert.equal(await prisma.referral.count(), 0);

const results = await Promise.all(Array.from({ length: 9 }, () => store.once('a', effect)));
assert.equal(results.filter((result) => result === 'processed').length, 1);
assert.equal(await store.once('a', effect), 'duplicate');
assert.equal(await prisma.referral.count(), 1);

const held = Promise.withResolvers<void>();
const started = Promise.withResolvers<void>();
const slow = store.once('b', async () => {
  started.resolve();
  await held.promise;
});
await started.promise;
assert.equal(await store.once('b', effect), 'busy');
held.resolve();
assert.equal(await slow, 'processed');

assert.equal(await store.forget({ ids: ['a', 'unknown'] }), 1);
assert.equal(await store.forget({ since: new Date(0) }), 1);
await prisma.$disconnect();
console.log('done');
`;

test.concurrent('the block for Prisma compiles, and its store processes a delivery once', async ({
  expect,
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-newcomer-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const separate = await createTestDatabase({ template: 'newcomer', prepare: async () => {} });
  onTestFinished(() => separate.drop());
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const { version: nodeTypes } = JSON.parse(
    await readFile(join(workspaceRoot, 'node_modules/@types/node/package.json'), 'utf8'),
  );
  const packages = ['prisma', '@prisma/client', '@prisma/adapter-pg'].map((name) => `${name}@${prismaRelease}`);
  await npmInstall(folder, [...tarballs, ...packages, `@types/node@${nodeTypes}`]);
  await writeFile(join(folder, 'schema.prisma'), prismaSchema);
  await writeFile(join(folder, 'prisma.ts'), blocks.find((code) => code.includes('prismaStore')) ?? '');
  await writeFile(join(folder, 'run.ts'), prismaScript);
  // Generating does not use the schema engine, but the command would download it unless the variable names a file.
  const generating = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await succeed('npx', ['prisma', 'generate', '--schema', 'schema.prisma'], { cwd: folder, env: generating });

  const tsc = join(workspaceRoot, 'node_modules/typescript/bin/tsc');
  const target = ['--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
  const options = ['--noEmit', '--strict', '--skipLibCheck', ...target];
  expect(await succeed(process.execPath, [tsc, ...options, 'run.ts'], { cwd: folder })).toBe('');
  const env = { DATABASE_URL: separate.databaseUrl };
  expect(await succeed(process.execPath, ['run.ts'], { cwd: folder, env })).toBe('done\n');
});

const compiles = ({ start }: Row): number => Number(start.startsWith('npx'));
/** The slowest first, because only some of them run at the same time. */
const pasted = rows
  .map((row, index) => ({ ...row, block: blocks[index] ?? '' }))
  .toSorted((one, other) => compiles(other) - compiles(one));

// Concurrent, because each waits for the retry of a delivery.
test.concurrent.for(pasted)(
  'a pasted block receives, verifies and processes a delivery once: $framework',
  async (row, { expect, onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), 'deedwire-newcomer-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await npmInstall(folder, [...tarballs, ...(await versioned(row))]);
    await mkdir(dirname(join(folder, row.file)), { recursive: true });
    await writeFile(join(folder, row.file), row.block);
    if (row.start === 'node local.mjs')
      await cp(join(workspaceRoot, 'examples/receiver-lambda/local.mjs'), join(folder, 'local.mjs'));

    const port = String(await findFreePort());
    const url = `http://127.0.0.1:${port}/webhooks`;
    const webhookSecret = generateWebhookSecret();
    const output = run({
      command: row.start.replace('4005', port),
      cwd: folder,
      env: { DATABASE_URL: database.databaseUrl, PORT: port, WEBHOOK_SECRET: webhookSecret },
      onTestFinished,
    });
    // A GET request also makes Next.js compile the route.
    await eventually(() => fetch(url), 120_000).catch((cause: unknown) => {
      throw new Error(`The receiver does not listen:\n${output()}`, { cause });
    });

    const path = `/${port}`;
    targets.set(path, url);
    const input = {
      callbackUrl: `http://127.0.0.1:${relay.port}${path}`,
      eventTypes: [{ type: 'referral.created', version: '2026-11-01' }],
      webhookSecret,
    };
    const { createWebhookSubscription } = await t.partner.request(SubscribeDocument, { input });
    expect(createWebhookSubscription).toMatchObject({ webhookSubscription: { status: 'ACTIVE' }, userErrors: [] });
    const { createReferral } = await t.partner.request(ReferDocument, { input: { clientName: 'Grace Hopper' } });
    const referralId = createReferral.referral?.id ?? 'none';

    const attempts = await eventually(() => {
      const found = (delivered.get(path) ?? []).filter(({ event }) => event.data.referralId === referralId);
      if (found.length < 2)
        throw new Error(`${found.length} of 2 attempts arrived. The receiver printed:\n${output()}`);
      return found;
    }, 120_000);
    expect(attempts).toMatchObject([
      { status: 200, result: { result: 'processed' } },
      { status: 200, result: { result: 'duplicate' } },
    ]);
    if (row.packages.includes('pg')) {
      const connection = await connect(database.databaseUrl);
      const stored = await connection.run('select id from referral where id = $1', [referralId]);
      await connection.close();
      expect(stored).toEqual([{ id: referralId }]);
    } else {
      await eventually(() => expect(output()).toContain(`referral.created ${referralId}`));
      expect(output().split(referralId)).toHaveLength(2);
    }
  },
);
