import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { secret } from './support/delivery.ts';

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
const typesFolder = dirname(dirname(require.resolve('@types/node/package.json')));

/** In the order of the README. The others import the first as `./receiver.ts`. */
const names = [
  'receiver',
  'express',
  'fastify',
  'hono',
  'next',
  'lambda',
  'worker',
  'postgres',
  'kysely',
  'drizzle',
  'redis',
  'replay',
  'testing',
];

// The folder of a consumer project in which this package and the frameworks are installed.
let project = '';
let blocks: string[] = [];
let database: TestDatabase;

beforeAll(async () => {
  const readme = await readFile(join(packageFolder, 'README.md'), 'utf8');
  blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  project = await mkdtemp(join(tmpdir(), 'webhook-receiver-readme-'));
  await mkdir(join(project, 'node_modules/@deedwire'), { recursive: true });
  await symlink(packageFolder, join(project, 'node_modules/@deedwire/webhook-receiver'), 'dir');
  const installed = [
    'drizzle-orm',
    'express',
    'fastify',
    'hono',
    'ioredis',
    'kysely',
    'pg',
    '@types/express',
    '@types/pg',
  ];
  await mkdir(join(project, 'node_modules/@types'));
  await Promise.all(
    installed.map((name) =>
      symlink(join(packageFolder, 'node_modules', name), join(project, 'node_modules', name), 'dir'),
    ),
  );
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await Promise.all(blocks.map((code, index) => writeFile(join(project, `${names[index]}.ts`), code)));
  database = await createTestDatabase({ template: 'webhook_receiver_readme', prepare: async () => {} });
});

afterAll(async () => {
  await database.drop();
  await rm(project, { recursive: true });
});

it('contains the code blocks that the tests below run', () => {
  expect(blocks).toHaveLength(names.length);
});

it('compiles', async () => {
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: 'nodenext',
        skipLibCheck: true,
        // The sources of this package import each other with the extension .ts; a consumer sees the .d.ts files.
        allowImportingTsExtensions: true,
        customConditions: ['deedwire-source'],
        typeRoots: [typesFolder],
        types: ['node'],
      },
      include: ['*.ts'],
    }),
  );
  const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

/** Runs a script that asserts, as a consumer's process. Resolves with what it prints, which ends with `done`. */
async function runScript(name: string, script: string, env: Record<string, string>): Promise<string> {
  const file = join(project, `${name}.run.ts`);
  await writeFile(file, `import assert from 'node:assert/strict';\n${script}\nconsole.log('done');\n`);
  const { stdout } = await run(process.execPath, ['--conditions=deedwire-source', file], { env });
  return stdout;
}

it('runs as documented in each framework', async () => {
  const printed = await runScript(
    'frameworks',
    `
    import { createServer } from 'node:http';
    import { once } from 'node:events';
    import { signedRequest } from '@deedwire/webhook-receiver/testing';
    import { receiver, server } from './receiver.ts';
    import { app as expressApp } from './express.ts';
    import { app as fastifyApp } from './fastify.ts';
    import { app as honoApp } from './hono.ts';
    import { POST } from './next.ts';
    import { handler } from './lambda.ts';
    import worker from './worker.ts';

    const secret = process.env['WEBHOOK_SECRET'];
    const signed = (version = '2026-11-01', type = 'referral.converted') =>
      signedRequest(type, version, { secret });
    const overHttp = async (listening) => {
      listening.listen(0, '127.0.0.1');
      await once(listening, 'listening');
      const { method, headers, body } = await signed();
      const url = 'http://127.0.0.1:' + listening.address().port + '/webhooks';
      const response = await fetch(url, { method, headers, body, duplex: 'half' });
      listening.close();
      return response.json();
    };
    await fastifyApp.ready();
    const lambda = await signed();
    const event = {
      requestContext: { http: { method: 'POST' } },
      headers: Object.fromEntries(lambda.headers),
      body: Buffer.from(await lambda.arrayBuffer()).toString('base64'),
      isBase64Encoded: true,
    };
    const results = [
      await overHttp(server),
      await overHttp(createServer(expressApp)),
      await overHttp(fastifyApp.server),
      await (await honoApp.request(new Request('http://localhost/webhooks', await signed()))).json(),
      await (await POST(await signed())).json(),
      JSON.parse((await handler(event)).body),
      await (await worker.fetch(await signed('2026-11-01', 'lender.updated'), { WEBHOOK_SECRET: secret })).json(),
    ];
    assert.deepEqual(results, Array(7).fill({ result: 'processed' }));
    const { forgotten } = await import('./replay.ts');
    assert.equal(forgotten, 6);
    const { names, response } = await import('./testing.ts');
    assert.deepEqual([response.status, names], [200, ['Quay Lending']]);
    await receiver.close();
    `,
    { WEBHOOK_SECRET: secret },
  );
  expect(printed).toMatch(/^done$/m);
});

it('runs as documented with each way to use PostgreSQL', async () => {
  const printed = await runScript(
    'databases',
    `
    import { drizzle } from 'drizzle-orm/node-postgres';
    import { Kysely, PostgresDialect, sql } from 'kysely';
    import { signedRequest } from '@deedwire/webhook-receiver/testing';
    import { pool, receiver } from './postgres.ts';
    import { kyselyStore } from './kysely.ts';
    import { drizzleStore } from './drizzle.ts';

    await pool.query('create table conversion (matter_id text)');
    const send = async () => {
      const secret = process.env['WEBHOOK_SECRET'];
      const response = await receiver.fetch(await signedRequest('referral.converted', '2026-11-01', { secret, id: 'a' }));
      return response.json();
    };
    assert.deepEqual([await send(), await send()], [{ result: 'processed' }, { result: 'duplicate' }]);
    assert.equal((await pool.query('select from conversion')).rowCount, 1);

    const insert = "insert into conversion values ('other')";
    const stores = {
      kysely: [kyselyStore(new Kysely({ dialect: new PostgresDialect({ pool }) })), (transaction) => sql.raw(insert).execute(transaction)],
      drizzle: [drizzleStore(drizzle(pool)), (transaction) => transaction.execute(insert)],
    };
    for (const [id, [store, effect]] of Object.entries(stores)) {
      await pool.query('truncate conversion');
      await assert.rejects(store.once(id, () => { throw new RangeError('failed'); }), RangeError);
      await assert.rejects(store.once(id, async (transaction) => { await effect(transaction); await transaction.execute?.('select 1/0'); throw new RangeError(''); }));
      const results = await Promise.all(Array.from({ length: 9 }, () => store.once(id, effect)));
      assert.equal(results.filter((result) => result === 'processed').length, 1);
      assert.equal(await store.once(id, effect), 'duplicate');
      assert.equal((await pool.query('select from conversion')).rowCount, 1);
      assert.equal(await store.forget({ ids: [id, 'unknown'] }), 1);
      assert.equal(await store.once(id, effect), 'processed');
    }
    await pool.end();
    `,
    { WEBHOOK_SECRET: secret, DATABASE_URL: database.databaseUrl },
  );
  expect(printed).toMatch(/^done$/m);
});

it.skipIf(spawnSync('redis-server', ['--version']).error !== undefined)('runs as documented with Redis', async () => {
  const { startRedis } = await import('./support/redis-server.ts');
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
