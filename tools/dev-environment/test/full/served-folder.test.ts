import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { copyShop } from '@deedwire/layout/shop';
import { postGraphql } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../src/app-process.ts';
import type { DevCaller, DevFile } from '../../src/dev-file.ts';
import { workspaceRoot } from '../../src/workspace.ts';
import { createDevHome } from '../dev-process.ts';
import { printedCommand, runOperator } from '../printed-command.ts';

/** Starts `pnpm dev` on the folder, with its own data. */
async function runDev(folder: string): Promise<void> {
  const home = await forTest(
    createDevHome<DevFile & { customer: DevCaller }>({ interfaceNames: ['customer'], folder }),
  );
  const dev = home.start({}, { commandArguments: ['--receiver'] });
  const { customer } = await home.whenReady(dev);
  const query = '{ customer { name } }';
  const { body } = await postGraphql(customer.url, customer, { query, prefix: 'X-Shop' });
  expect(body.data).toEqual({ customer: { name: 'Ada' } });
  await runOperator(home, await printedCommand(dev));
  await expect.poll(dev.output).toMatch(/^receiver +api_key\.created 2026-11-01, attempt 1$/m);
}

test('a service in a folder outside of the workspace is generated, migrated, operated and served', async () => {
  const shop = copyShop();
  onTestFinished(shop.close);
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  onTestFinished(() => database.drop());
  const run = (script: string, ...args: readonly string[]): string => {
    const command = ['--conditions=deedwire-source', join(workspaceRoot, script), '--service', shop.folder, ...args];
    // Its logins have the roles without a prefix.
    const env = { PATH: process.env['PATH'], DATABASE_URL: database.databaseUrl, DATABASE_SCHEMA: 'public' };
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env });
    // On a busy machine, a statement can be slow.
    const others = stderr.split('\n').filter((line) => !line.includes('slow statement'));
    expect({ status, stderr: others.join('\n') }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
  const operate = (...args: readonly string[]) =>
    JSON.parse(run('tools/dev-environment/src/operator.ts', ...args, '--json'));

  run('tools/generate/src/main.ts');
  expect(operate('database', 'migrate')).toMatchObject({ addedInterfaces: ['customer'] });
  const organization = operate('organization', 'create', '--name', 'Shop');
  const account = operate('customer', 'create', '--organization', organization.id, '--name', 'Ada');
  const credential = operate('credential', 'issue', '--account', account.id);

  const env = {
    DATABASE_DIRECT_URL: '',
    WEBHOOK_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
    NODE_ENV: 'test',
    PORT: '0',
    ADMIN_PORT: '0',
  };
  const start = async (name: string, role: string) => {
    const url = await database.urlFor(role);
    const app = await startApp({ name, folder: shop.folder, env: { ...env, DATABASE_URL: url } });
    onTestFinished(() => void app.stop());
    return app;
  };
  await start('webhook-worker', 'webhook_worker');
  const { url } = await start('customer-api', 'customer_api');
  const response = await fetch(`${url}/customer/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Shop-Client-Id': credential.clientId,
      'X-Shop-API-Key': credential.apiKey,
      'X-Shop-Organization-Id': credential.organizationId,
    },
    body: JSON.stringify({ query: '{ customer { name } }' }),
  });
  expect(await response.json()).toMatchObject({ data: { customer: { name: 'Ada' } } });
  await runDev(shop.folder);
});
