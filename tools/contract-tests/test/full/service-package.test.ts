import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { linesFor, quietNpm, startEmptyRegistry } from '../support/install-lines.ts';
import { npmInstall } from '../support/installed-packages.ts';
import { tarballsOf } from '../support/packed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/**
 * A folder of an application, with other releases of what the package depends on, in which the package is installed by the line that
 * `pnpm packages` prints, and the database of the application.
 */
async function installService() {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-service-'));
  const project = join(folder, 'my-shop');
  await mkdir(project);
  const dependencies = { graphql: '^16.0.0', pg: '^8.0.0', zod: '^3.0.0' };
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'my-shop', private: true, type: 'module', dependencies }),
  );
  await npmInstall(project, []);
  const registry = await startEmptyRegistry();
  await writeFile(join(project, '.npmrc'), `@deedwire:registry=${registry.url}\n`);
  const [line = 'false'] = (await linesFor('npm')).filter((each) => /\/deedwire-service-[^/]*'$/.test(each));
  await succeed('sh', ['-ec', line], { cwd: project, env: quietNpm });
  await registry.close();

  const server = await startPostgres();
  await withClient(server.url, async (client) => {
    await client.query(`create role shop_owner login password 'x'`);
    await client.query('create database shop owner shop_owner');
  });
  const url = new URL(server.url);
  Object.assign(url, { username: 'shop_owner', password: 'x', pathname: '/shop' });
  return {
    project,
    askedRegistry: registry.asked,
    databaseUrl: url.href,
    async close() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const shop = await forFile(installService());
const deedwire = (...command: string[]): Promise<string> =>
  succeed('npx', ['--no-install', 'deedwire', ...command], {
    cwd: shop.project,
    env: { DATABASE_URL: shop.databaseUrl },
  });

const versionOf = async (name: string): Promise<string> =>
  JSON.parse(await readFile(join(shop.project, 'node_modules', name, 'package.json'), 'utf8')).version;

test('the printed line of npm installs it without a request for a package of ours', async () => {
  expect(shop.askedRegistry).toEqual([]);
  expect(await versionOf('@deedwire/service')).toMatch(/^0\./);
});

test('beside zod 3 and graphql 16, it refuses a schema of that zod, and names what to use', async () => {
  expect(await versionOf('graphql')).toMatch(/^16\./);
  expect(await versionOf('zod')).toMatch(/^3\./);
  const script = `
    import { defineEvent } from '@deedwire/service';
    import { z } from 'zod';
    defineEvent('order.paid', {
      description: 'An order was paid.',
      interfaces: ['customer'],
      snapshot: z.object({ id: z.string() }),
      sample: () => ({ id: '1' }),
      versions: {},
    });`;
  await expect(
    succeed(process.execPath, ['--input-type=module', '--eval', script], { cwd: shop.project }),
  ).rejects.toThrow(
    'TypeError: order.paid: snapshot is made by another copy of zod. Make the schemas of events with the `z` that @deedwire/service exports.',
  );
});

test('beside graphql 16 without the override of the line, an interface names it', async () => {
  const project = await mkdtemp(join(shop.project, '../without-override-'));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await npmInstall(project, ['graphql@16', ...(await tarballsOf(['@deedwire/webhook-signing']))]);
  await npmInstall(project, await tarballsOf(['@deedwire/service']));
  const start =
    'npx --no-install deedwire init && set -a && . deedwire/dev.env && npx --no-install deedwire interface customer';
  const env = { DATABASE_URL: shop.databaseUrl, NODE_ENV: 'development', WEBHOOK_CALLBACK_POLICY: 'development' };
  await expect(succeed('sh', ['-ec', start], { cwd: project, env })).rejects.toThrow(
    'Set "overrides": { "@deedwire/service": { "graphql": "^17" } } in package.json',
  );
});

test('`init` writes the files of a service, and replaces none', async () => {
  const files = ['service.mjs', 'customer/2026-11-01.graphql', 'dev.env', '.gitignore'].map(
    (name) => `deedwire/${name}`,
  );
  expect(await deedwire('init')).toContain(files.map((file) => `wrote  ${file}\n`).join(''));
  const key = await readFile(join(shop.project, 'deedwire/dev.env'), 'utf8');
  expect(await deedwire('init')).toContain(files.map((file) => `kept   ${file}\n`).join(''));
  expect(await readFile(join(shop.project, 'deedwire/dev.env'), 'utf8')).toBe(key);
  // The example serves this schema: `orders.test.ts`.
  const [schema, served] = await Promise.all(
    [shop.project, join(workspaceRoot, 'examples/orders')].map((folder) =>
      readFile(join(folder, 'deedwire/customer/2026-11-01.graphql'), 'utf8'),
    ),
  );
  expect(schema?.replaceAll('X-MyShop-', 'X-Shop-')).toBe(served);
});

test('the commands name an interface, a service and a command that do not exist', async () => {
  await expect(deedwire('interface', 'vendor')).rejects.toThrow(
    'the service has no interface vendor. It has customer.',
  );
  await expect(deedwire('--service', 'none.mjs', 'worker')).rejects.toThrow('none.mjs does not exist');
  await expect(deedwire('migrates')).rejects.toThrow(`unknown command 'migrates'`);
});

test('beside graphql 16 with the override of the line, the interface and the worker become ready', async () => {
  await deedwire('migrate');
  const script = `
    import { startInterface, startWorker } from '@deedwire/service';
    import { service } from './deedwire/service.mjs';
    process.loadEnvFile('deedwire/dev.env');
    const options = { app: import.meta.url };
    const running = [await startInterface(service, 'customer', options), await startWorker(service, options)];
    await Promise.all(running.map(({ ready }) => ready));
    const { status } = await fetch(running[0].url + '/customer/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{ "query": "{ __typename }" }',
    });
    await Promise.all(running.map((each) => each.stop()));
    process.stdout.write(String(status));`;
  await writeFile(join(shop.project, 'ready.mjs'), script);
  const env = { DATABASE_URL: shop.databaseUrl, LOG_LEVEL: 'error', NODE_ENV: 'development', PORT: '0' };
  expect(
    await succeed(process.execPath, ['ready.mjs'], {
      cwd: shop.project,
      env: { ...env, WEBHOOK_CALLBACK_POLICY: 'development' },
    }),
  ).toBe('401');
});

test('`remove` prints the statements that remove all that `migrate` has created, and nothing of the application', async () => {
  await withClient(shop.databaseUrl, (client) => client.query('create table customer (id text primary key)'));
  expect(await tablesIn('deedwire')).not.toEqual([]);

  const statements = await deedwire('remove');
  expect(statements).toContain(
    'drop role if exists my_shop_customer_api, my_shop_webhook_worker, my_shop_operator, my_shop_application;',
  );
  // This login may drop no roles, and its database has none.
  const [ofOwner = ''] = statements.split('-- By a login that may drop roles');
  await withClient(shop.databaseUrl, (client) => client.query(ofOwner));
  expect(await tablesIn('deedwire')).toEqual([]);
  expect(await tablesIn('public')).toEqual(['customer']);
});

/** The names of the tables of a schema. */
function tablesIn(schema: string): Promise<string[]> {
  return withClient(shop.databaseUrl, async (client) => {
    const { rows } = await client.query<{ tablename: string }>(
      'select tablename from pg_tables where schemaname = $1 order by 1',
      [schema],
    );
    return rows.map(({ tablename }) => tablename);
  });
}
