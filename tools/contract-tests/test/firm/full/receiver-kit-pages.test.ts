import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, findFreePort, freezeSessions } from '@deedwire/embedded-postgres';
import { compileBlocks, compileCache, eventually, readReceiverKitPages } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { secret } from '../../../../../packages/webhook-receiver/test/support/delivery.ts';
import { isWithoutRedis } from '../../../../../packages/webhook-receiver/test/support/redis-server.ts';

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('../../../../../packages/webhook-receiver', import.meta.url));
const require = createRequire(import.meta.url);
const embeddedPostgres = pathToFileURL(require.resolve('@deedwire/embedded-postgres')).href;

/** In the order of the README and the pages that it lists. */
const names = [
  'node',
  'postgres',
  'kysely',
  'drizzle',
  'prisma',
  'workers-postgres',
  'redis',
  'graphile-worker',
  'pg-boss',
  'kept',
  'reconcile',
  'pull-only',
  'pulled',
  'replay',
  'kept-request',
  'events',
  'testing',
] as const;

/** The file of each example that the page about frameworks links. */
const examples = {
  express: 'server.mjs',
  fastify: 'server.mjs',
  hono: 'server.mjs',
  next: 'app/webhooks/route.js',
  lambda: 'index.mjs',
  workers: 'worker.ts',
};

function exampleFile(name: string, file: string): string {
  return join(packageFolder, `../../examples/receiver-${name}`, file);
}

const blocks = [...readReceiverKitPages().matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
// The folder of a consumer project in which this package and the frameworks are installed.
const project = await mkdtemp(join(tmpdir(), 'webhook-receiver-readme-'));
await mkdir(join(project, 'node_modules/@deedwire'), { recursive: true });
await symlink(packageFolder, join(project, 'node_modules/@deedwire/webhook-receiver'), 'dir');
await symlink(join(packageFolder, '../webhook-events'), join(project, 'node_modules/@deedwire/webhook-events'), 'dir');
const linked = [
  '@hono/node-server',
  'express',
  'fastify',
  'graphile-worker',
  'hono',
  'ioredis',
  'pg',
  'pg-boss',
  '@types/express',
  '@types/pg',
];
for (const scope of ['@hono', '@types']) await mkdir(join(project, 'node_modules', scope));
await Promise.all(
  linked.map((name) => symlink(join(packageFolder, 'node_modules', name), join(project, 'node_modules', name), 'dir')),
);
await writeFile(join(project, 'package.json'), '{ "type": "module" }');
// `packages/webhook-receiver/test/full/libraries.test.ts` and `tools/contract-tests/test/firm/long/prisma.test.ts` compile and run these blocks.
const elsewhere: unknown[] = ['kysely', 'drizzle', 'prisma'];
const own = blocks.flatMap((code, index) => (elsewhere.includes(names[index]) ? [] : [{ name: names[index], code }]));
await Promise.all(own.map(({ name, code }) => writeFile(join(project, `${name}.ts`), code)));
for (const [name, file] of Object.entries(examples))
  await writeFile(join(project, `${name}.ts`), await readFile(exampleFile(name, file), 'utf8'));
const database = await forFile(createTestDatabase({ template: 'webhook_receiver_readme', prepare: async () => {} }));

afterAll(async () => {
  await rm(project, { recursive: true });
});

it('contains the code blocks that the tests below run', () => {
  expect(blocks).toHaveLength(names.length);
});

it('shows the code of the example receiver-node unchanged', async () => {
  expect(blocks[0]).toBe(await readFile(exampleFile('node', 'server.mjs'), 'utf8'));
});

it.each(Object.entries(examples))(
  'names the example receiver-%s, whose manifest has the packages that it imports',
  async (name, file) => {
    const page = await readFile(join(packageFolder, 'docs/frameworks.md'), 'utf8');
    expect(page).toContain(`\`examples/receiver-${name}/${file}\``);
    const { dependencies } = JSON.parse(await readFile(exampleFile(name, 'package.json'), 'utf8'));
    const source = await readFile(exampleFile(name, file), 'utf8');
    const imported = source.matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)[/\w-]*'/g);
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...imported].map(([, found]) => found)));
  },
);

it('compiles', async () => {
  expect(await compileBlocks(project, '*.ts')).toBe('');
});

/**
 * Runs a script that asserts, as a consumer's process. `start` runs a block as a server and resolves with a function that sends
 * it a delivery with an id. Resolves with what the process prints, which ends with `done`.
 */
async function runScript(name: string, script: string, env: Record<string, string>): Promise<string> {
  const file = join(project, `${name}.run.ts`);
  await writeFile(
    file,
    `
    import assert from 'node:assert/strict';
    import { findFreePort } from '${embeddedPostgres}';
    import * as events from '@deedwire/webhook-events';
    import { signedRequest } from '@deedwire/webhook-receiver/testing';

    const created = { referralId: 'gid://service/Referral/1', externalReference: null };
    const converted = { ...created, matterId: 'gid://service/Matter/1', convertedAt: '2026-11-03T09:30:00.000Z' };

    const deliver = async (id, handle) => {
      const request = await signedRequest(events, 'referral.created', '2026-11-01', created, { secret: process.env.WEBHOOK_SECRET, id });
      return (await handle(request)).json();
    };
    const start = async (block) => {
      const port = String(await findFreePort());
      process.env.PORT = port;
      await import('./' + block + '.ts');
      const handle = async (request) =>
        fetch('http://127.0.0.1:' + port + '/webhooks', {
          method: 'POST',
          headers: request.headers,
          body: await request.arrayBuffer(),
        });
      return (id) => deliver(id, handle);
    };
    ${script}
    console.log('done');
    // The servers of the blocks listen until the process ends.
    process.exit();
    `,
  );
  const { stdout } = await run(process.execPath, ['--conditions=deedwire-source', file], {
    env: { ...env, ...compileCache },
  });
  return stdout;
}

it('loads the block for Next.js without a secret, as its build does', async () => {
  const printed = await runScript(
    'next-build',
    `
    import { POST } from './next.ts';
    const response = await POST(new Request('http://localhost/webhooks', { method: 'POST', body: '{}' }));
    assert.deepEqual([response.status, await response.json()], [500, { code: 'SECRET_INVALID' }]);
    `,
    {},
  );
  expect(printed).toBe('500 SECRET_INVALID\ndone\n');
});

it('runs as documented in each framework', async () => {
  const printed = await runScript(
    'frameworks',
    `
    import { POST } from './next.ts';
    import { handler } from './lambda.ts';
    import worker from './workers.ts';

    const lambda = async (request) => {
      const event = {
        requestContext: { http: { method: 'POST' } },
        headers: Object.fromEntries(request.headers),
        body: Buffer.from(await request.arrayBuffer()).toString('base64'),
        isBase64Encoded: true,
      };
      return new Response((await handler(event)).body);
    };
    const waited = [];
    const sends = [
      await start('node'),
      await start('express'),
      await start('fastify'),
      await start('hono'),
      (id) => deliver(id, POST),
      (id) => deliver(id, lambda),
      (id) => deliver(id, (request) => worker.fetch(request, process.env, { waitUntil: (promise) => waited.push(promise) })),
    ];
    for (const send of sends)
      assert.deepEqual([await send('a'), await send('a')], [{ result: 'processed' }, { result: 'duplicate' }]);
    assert.equal(waited.length, 2);
    const { names, response } = await import('./testing.ts');
    assert.deepEqual([response.status, names], [200, ['Quay Lending']]);
    `,
    { WEBHOOK_SECRET: secret },
  );
  expect(printed.match(/^Listening on port \d+\.$/gm)).toHaveLength(4);
  expect(printed.replaceAll(/^Listening.*\n/gm, '')).toMatch(
    /^(?:referral\.created gid:\/\/service\/Referral\/\d+\n200 PROCESSED\n200 DUPLICATE\n){7}done\n$/,
  );
});

it('runs as documented with PostgreSQL', async () => {
  const printed = await runScript(
    'databases',
    `
    import { Pool } from 'pg';
    import { createWebhookReceiver } from '@deedwire/webhook-receiver';
    import { postgresStore } from '@deedwire/webhook-receiver/postgres';
    import { processKeptRequest } from './kept-request.ts';

    const send = await start('postgres');
    const pool = new Pool({ connectionString: process.env.DATABASE_URL });
    const count = async () => (await pool.query('select from referral')).rowCount;
    assert.deepEqual([await send('a'), await send('a')], [{ result: 'processed' }, { result: 'duplicate' }]);
    assert.equal(await count(), 1);
    await import('./replay.ts');
    await pool.query('truncate referral');
    assert.deepEqual(await send('a'), { result: 'processed' });
    assert.equal(await count(), 1);

    const kept = await signedRequest(events, 'referral.created', '2026-11-01', created, { secret: process.env.WEBHOOK_SECRET, id: 'a', age: 301 });
    const request = {
      headers: Object.fromEntries(kept.headers),
      body: new Uint8Array(await kept.arrayBuffer()),
      receivedAt: new Date(Date.now() - 301_000),
    };
    const receiver = createWebhookReceiver({
      events,
      prefix: 'X-Service',
      secrets: [process.env.WEBHOOK_SECRET],
      store: postgresStore(pool),
      on: { 'referral.created': { '2026-11-01': (event, { transaction }) => transaction.query("insert into referral values ('kept')") } },
      log: { error() {}, warn() {} },
    });
    const results = [];
    const processOne = async (request) => results.push((await processKeptRequest(receiver, request)).body);
    await processOne(request);
    await receiver.forget({ ids: ['a'] });
    await processOne(request);
    for (const receivedAt of [undefined, new Date(), new Date(Number.NaN)]) await processOne({ ...request, receivedAt });
    assert.deepEqual(results, [
      '{"result":"duplicate"}',
      '{"result":"processed"}',
      '{"code":"TIMESTAMP_TOO_OLD"}',
      '{"code":"TIMESTAMP_TOO_OLD"}',
      '{"code":"NOW_INVALID"}',
    ]);
    `,
    { WEBHOOK_SECRET: secret, DATABASE_URL: database.databaseUrl },
  );
  expect(printed).toBe('Forgot 1 deliveries.\ndone\n');
});

it('ends after SIGTERM although the connections of its pool no longer respond', async () => {
  const port = String(await findFreePort());
  const child = spawn(process.execPath, ['--conditions=deedwire-source', join(project, 'postgres.ts')], {
    env: {
      PORT: port,
      WEBHOOK_SECRET: secret,
      DATABASE_URL: database.databaseUrl,
      PGAPPNAME: 'readme',
      ...compileCache,
    },
    stdio: 'inherit',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await eventually(() => fetch(`http://127.0.0.1:${port}/webhooks`));
  onTestFinished(await freezeSessions(database.databaseUrl, 'readme'));
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

const stops = { 'graphile-worker': 'runner.stop()', 'pg-boss': 'boss.stop()' };

it.each(Object.entries(stops))('runs as documented with an inbox of %s', async (name, stop) => {
  const inboxes = await createTestDatabase({ template: 'webhook_receiver_readme', prepare: async () => {} });
  const printed = await runScript(
    `${name}-inbox`,
    `
    import { setTimeout as sleep } from 'node:timers/promises';
    import * as block from './${name}.ts';

    const { pool, receiver, runner, boss } = block;
    await pool.query('create table conversion (matter_id text)');
    const send = async () => {
      const secret = process.env['WEBHOOK_SECRET'];
      return (await receiver.fetch(await signedRequest(events, 'referral.converted', '2026-11-01', converted, { secret, id: 'a' }))).status;
    };
    assert.deepEqual([await send(), await send()], [202, 200]);
    while ((await pool.query('select from conversion')).rowCount === 0) await sleep(100);
    await receiver.close();
    await ${stop};
    assert.equal((await pool.query('select from webhook_inbox_receipt where processed_at is not null')).rowCount, 1);
    await pool.end();
    `,
    { WEBHOOK_SECRET: secret, DATABASE_URL: inboxes.databaseUrl },
  );
  await inboxes.drop();
  expect(printed).toMatch(/^done$/m);
});

it.skipIf(isWithoutRedis)('runs as documented with Redis', async () => {
  const { startRedis } = await import('../../../../../packages/webhook-receiver/test/support/redis-server.ts');
  const redis = await startRedis();
  const printed = await runScript(
    'redis-store',
    `
    import { redis, store } from './redis.ts';
    const results = [await store.once('a', async () => {}), await store.once('a', async () => {})];
    assert.deepEqual(results, ['processed', 'duplicate']);
    redis.disconnect();
    `,
    { REDIS_URL: `redis://127.0.0.1:${redis.client.options.port}` },
  );
  await redis.remove();
  expect(printed).toMatch(/^done$/m);
});
