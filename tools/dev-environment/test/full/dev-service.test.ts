import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { interfaceNames } from '@deedwire/core/test-service';
import { isDefault } from '@deedwire/layout';
import { testLayout } from '@deedwire/layout/test-layout';
import { postGraphql } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { newDevHome } from '../dev-process.ts';
import { printedCommand, runOperator } from '../printed-command.ts';

const placeOrder = `mutation ($input: PlaceOrderInput!) {
  placeOrder(input: $input) { order { id } userErrors { message } }
}`;

// `firm/full/dev.test.ts` has more, of the service that the repository deploys.
test('a service without a seed gets one account of each interface, answers requests, and delivers its events', async () => {
  const home = await newDevHome();
  const dev = home.start({}, { commandArguments: ['--receiver'] });
  const file = await home.whenReady(dev);
  const { customer, supplier } = file;
  expect(Object.keys(file).toSorted()).toEqual(
    [...interfaceNames, 'admin', 'databaseUrl', 'webhookSecretKeys'].toSorted(),
  );
  expect(customer.organizationId).toBe(supplier.organizationId);
  expect((await stat(join(home.path, 'supplier.env'))).mode & 0o777).toBe(0o600);

  const { body } = await postGraphql(supplier.url, supplier, { query: '{ supplier { name } }' });
  expect(body.data).toEqual({ supplier: { name: 'Supplier One' } });
  const variables = { input: { item: 'Tea' } };
  const ordered = await postGraphql<{ placeOrder: { order: { id: string } } }>(customer.url, customer, {
    query: placeOrder,
    variables,
  });
  expect(ordered.body.data?.placeOrder).toMatchObject({ userErrors: [] });
  // It publishes no payloads, so the receiver knows only those of the platform.
  await expect.poll(dev.output).toMatch(/^receiver +order\.placed 2026-11-01\n[^]*"item": "Tea"/m);

  const command = await printedCommand(dev);
  await runOperator(home, command);
  await expect.poll(dev.output).toMatch(/^receiver +api_key\.created 2026-11-01, attempt 1$/m);
  const [query = ''] = /^\. .*dev\.env\n(?:.+\n)+?(?=npx )/m.exec(dev.output()) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', query]);
  expect(JSON.parse(stdout).data.webhookEventTypes).toContainEqual({ type: 'order.placed' });
  // Without the law firm, it is the one that the repository deploys.
  expect(command.includes('--service')).toBe(!isDefault(await testLayout()));
});
