import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyShop } from '@deedwire/layout/shop';
import { compileBlocks } from '@deedwire/testing';
import { afterAll, expect, test } from 'vitest';
import { workspaceRoot } from '../../src/workspace-files.ts';

const shop = copyShop();
afterAll(() => shop.close());

function run(script: string, ...args: readonly string[]) {
  const command = ['--conditions=deedwire-source', script, ...args];
  // Without the database of a running `pnpm dev`.
  const options = { cwd: workspaceRoot, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, command, options);
  return { status, stdout, stderr };
}

const generate = (...args: readonly string[]) => run('tools/generate/src/main.ts', '--service', shop.folder, ...args);

const git = (cwd: string, ...args: readonly string[]): string =>
  spawnSync('git', args, { cwd, encoding: 'utf8' }).stdout;

const before = git(workspaceRoot, 'status', '--porcelain');
const first = generate();

const read = (path: string): string => readFileSync(join(shop.folder, path), 'utf8');

test('writes the files of a service in any folder, and none of this workspace', () => {
  expect(first).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(git(workspaceRoot, 'status', '--porcelain')).toBe(before);
  expect(read('src/customer/contract/versions/2026-11-01.graphql')).toMatch(
    /^type Query \{[^}]*\bcustomer: Customer!\n[^}]*\bwebhookSubscriptions\b/m,
  );
  expect(read('src/customer/contract/versions/2026-11-01.manifest.json')).toContain('"X-Shop-API-Key"');
  expect(read('src/customer/contract/src/generated/sdl.ts')).toContain('type Customer {');
  expect(JSON.parse(read('webhook-events/versions.json'))).toMatchObject({ 'order.shipped': {}, 'webhook.test': {} });
  expect(JSON.parse(read('webhook-events/asyncapi/customer.json')).channels).toHaveProperty('order.shipped');
  expect(existsSync(join(shop.folder, 'webhook-events/fixtures/order.shipped/2027-02-01/reject'))).toBe(true);
  expect(existsSync(join(shop.folder, 'webhook-events/fixtures/webhook.test'))).toBe(false);
});

test('what it writes compiles with the service, and makes its value', async () => {
  const compile = (files: string) =>
    compileBlocks(shop.folder, files, { target: 'esnext', exactOptionalPropertyTypes: true });
  expect([await compile('src/*.ts'), await compile('src/customer/contract/**/*.ts')]).toEqual(['', '']);
  const script = `const { service } = await import(${JSON.stringify(pathToFileURL(join(shop.folder, 'src/service.ts')).href)});
process.stdout.write(JSON.stringify([service.interfaces, service.events.map(({ type }) => type)]));`;
  const options = ['--conditions=deedwire-source', '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
  expect(stderr).toBe('');
  const [interfaces, types] = JSON.parse(stdout);
  expect(interfaces).toMatchObject({ customer: { path: '/customer', records: ['Order'] } });
  expect(types).toEqual(expect.arrayContaining(['order.shipped', 'webhook.test']));
});

test('lists what is out of date, and writes it', () => {
  expect(generate('--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  const path = 'src/generated/events.ts';
  const text = read(path);
  writeFileSync(join(shop.folder, path), '');
  const listed = `out of date: ${join(relative(workspaceRoot, shop.folder), path)}\n`;
  expect(generate('--check')).toEqual({ status: 1, stdout: listed, stderr: '' });
  expect(generate('served-versions')).toMatchObject({ status: 0 });
  expect(read(path)).toBe(text);
});

test('compares what its apps serve with its contracts', () => {
  const check = () => run('tools/checks/src/served-schemas/main.ts', '--service', shop.folder);
  expect(check()).toEqual({ status: 0, stdout: '', stderr: '' });
  const path = 'src/customer/versions/2026-11-01.ts';
  const text = read(path);
  writeFileSync(
    join(shop.folder, path),
    text.replace("t.exposeString('name')", "t.exposeString('name', { nullable: true })"),
  );
  const difference = 'Customer.name: The type is String! in the SDL, but String is served.';
  expect(check()).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(`^customer-api 2026-11-01: ${difference}\n`),
  });
  writeFileSync(join(shop.folder, path), text);
});

test('is started and operated by the commands of this repository', () => {
  const start = (app: string) => run('tools/dev-environment/src/start.ts', app, '--service', shop.folder);
  for (const app of ['customer-api', 'webhook-worker'])
    expect(start(app)).toMatchObject({ status: 1, stderr: expect.stringContaining('DATABASE_URL is required') });
  const root = relative(workspaceRoot, shop.folder);
  expect(start('supplier-api')).toEqual({
    status: 2,
    stdout: '',
    stderr: `Usage: pnpm start <app> [--service <folder>]. The apps of ${root} are customer-api, webhook-worker.\n`,
  });
  const { status, stdout } = run(
    'tools/dev-environment/src/operator.ts',
    '--service',
    shop.folder,
    'customer',
    '--help',
  );
  expect(status).toBe(0);
  expect(stdout).toContain('Usage: deedwire-operator customer');
});

test('writes the files of its deployment, if it has a folder for them', () => {
  const manifest = read('package.json');
  writeFileSync(join(shop.folder, 'package.json'), JSON.stringify({ type: 'module', deedwire: { deploy: 'deploy' } }));
  expect(generate('deployment')).toEqual({ status: 0, stdout: '', stderr: '' });
  const paths = globSync('deploy/**/*.*', { cwd: shop.folder });
  expect(paths.filter((path) => path.includes('-api.'))).toEqual([
    'deploy/systemd/deedwire-customer-api.service',
    'deploy/kubernetes/apps/customer-api.yaml',
  ]);
  const named = paths.flatMap((path) => (path + read(path)).match(/[a-z]+(?=[-_]api\b)/g) ?? []);
  expect(new Set(named)).toEqual(new Set(['customer']));
  expect(read('deploy/Containerfile')).toMatch(/^FROM runtime AS customer-api\nEXPOSE 4004 4104\n/m);
  expect(read('deploy/compose/Caddyfile')).toMatch(
    /^\thandle \/customer\/\* \{\n\t\treverse_proxy customer-api:4004 /m,
  );
  expect(generate('--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  writeFileSync(join(shop.folder, 'package.json'), manifest);
});

test('gets the files of a new event and of new versions, which are generated once their TODOs are written', () => {
  const add = (...args: readonly string[]) => run('scripts/new.ts', '--service', shop.folder, ...args);
  expect(add('event', 'order.paid', '2027-06-01', 'customer').stderr).toMatch(/^Git does not show what is changed: /);
  git(shop.folder, 'init', '--quiet');
  const commit = () => {
    git(shop.folder, 'add', '--all');
    git(shop.folder, '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message=x');
  };
  for (const args of [
    ['event', 'order.paid', '2027-06-01', 'customer'],
    ['event-version', 'order.shipped', '2027-06-01'],
    ['interface-version', 'customer', '2027-06-01'],
  ]) {
    commit();
    expect(add(...args)).toEqual({
      status: 0,
      stdout: expect.stringContaining(`pnpm check --service ${shop.folder}`),
      stderr: '',
    });
    expect(git(workspaceRoot, 'status', '--porcelain')).toBe(before);
  }
  const check = run('scripts/check.ts', '--service', shop.folder);
  expect(check).toMatchObject({
    status: 1,
    stderr: '',
    stdout: expect.stringMatching(/^FAILED TODOs [^]*order\.paid\/event\.ts:4:/),
  });
  const written = git(shop.folder, 'grep', '--name-only', 'TODO').trim().split('\n');
  for (const path of written)
    writeFileSync(
      join(shop.folder, path),
      read(path)
        .replaceAll(/^\/\/ TODO.*\n|^# TODO.*\n/gm, '')
        .replaceAll('TODO', 'x'),
    );
  expect(generate()).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(JSON.parse(read('webhook-events/versions.json'))).toMatchObject({
    'order.paid': { '2027-06-01': { status: 'preview' } },
    'order.shipped': { '2027-06-01': { status: 'preview' } },
  });
  expect(run('tools/checks/src/served-schemas/main.ts', '--service', shop.folder)).toEqual({
    status: 0,
    stdout: '',
    stderr: '',
  });
  expect(add('event-version', 'webhook.test', '2027-06-01').stderr).toContain('are those of the platform');
});

test('refuses a generator of this repository', () => {
  const { status, stderr } = generate('operations');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^No generator of a service is called operations\. Use composed-contracts, /);
});

test('names what the service lacks', () => {
  const path = 'src/events/order.shipped/2026-11-01.ts';
  const text = read(path);
  rmSync(join(shop.folder, path));
  expect(generate('served-versions').stderr).toMatch(
    /order\.shipped\/2026-11-01\.ts is missing, but .*webhook-events\/versions\.json lists order\.shipped at 2026-11-01\.\n$/,
  );
  writeFileSync(join(shop.folder, path), text);
});
