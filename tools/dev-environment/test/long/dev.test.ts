import { interfaceNames, testService } from '@deedwire/core/test-service';
import { migrateDevDatabase, openDevDatabase } from '@deedwire/development';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { migrate, withSchema } from '@deedwire/store';
import { postGraphql, runOnce } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { openHome } from '../../src/home.ts';
import { newDevHome } from '../dev-process.ts';
import { printedCommand, runOperator } from '../printed-command.ts';

const context = { service: testService, gidNamespace: testService.names.gidNamespace };

test('--receiver exits with 1 when the callback URL is rejected', async () => {
  const home = await newDevHome();
  const dev = home.start({ WEBHOOK_CALLBACK_POLICY: 'public' }, { commandArguments: ['--receiver'] });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toMatch(/^The receiver cannot be subscribed: .+\n$/m);
});

test('with DATABASE_URL, works beside the tables of an application, and says where its own are; later starts pause its subscriptions or use them again, without another handshake; rejects the database of an earlier build', async () => {
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  await runOnce(database.databaseUrl, 'create table account (email text)');
  const env = { DATABASE_URL: database.databaseUrl };
  const withReceiver = { commandArguments: ['--receiver'] };
  const home = await newDevHome();
  const first = home.start(env, withReceiver);
  const file = await home.whenReady(first);
  expect(file.databaseUrl).toBe(withSchema(database.databaseUrl, 'deedwire'));
  expect(first.output()).toMatch(
    /^The database is 127\.0\.0\.1:\d+\/\w+, and its tables are in the schema deedwire\.$/m,
  );
  const line = /sample receiver +http:\/\/127\.0\.0\.1:(\d+)\//;
  await expect.poll(first.output).toMatch(line);
  const [, port = ''] = line.exec(first.output()) ?? [];
  first.signalGroup('SIGTERM');
  await expect.poll(() => home.processes()).toEqual([]);

  const without = home.start(env);
  const { customer, supplier } = await home.whenReady(without);
  expect(without.output()).toContain(
    'Paused the subscriptions of the sample receiver, which does not run without --receiver.\n',
  );
  const query = '{ webhookSubscriptions(first: 20) { nodes { status pausedReason } } }';
  for (const caller of [customer, supplier]) {
    const { body } = await postGraphql<{ webhookSubscriptions: unknown }>(caller.url, caller, { query });
    expect(body.data?.webhookSubscriptions).toEqual({ nodes: [{ status: 'PAUSED', pausedReason: 'OPERATOR' }] });
  }
  without.signalGroup('SIGTERM');
  await without.ended;

  const second = home.start({ ...env, RECEIVER_PORT: port }, withReceiver);
  expect((await home.whenReady(second)).customer.apiKey).toBe(file.customer.apiKey);
  await runOperator(home, await printedCommand(second));
  await expect.poll(second.output).toMatch(/^receiver +api_key\.created 2026-11-01, attempt 1$/m);
  expect(second.output()).not.toContain('handshake');
  second.signalGroup('SIGTERM');
  await second.ended;

  await runOnce(file.databaseUrl, `update schema_migration set checksum = 'of an earlier build'`);
  const third = home.start(env);
  expect(await third.ended).toBe(1);
  expect(third.output()).toContain('was applied to the database, but is missing from this build or differs from it.');
  expect(third.output()).toContain('before the first public release');
  expect(third.output()).toMatch(/\nFor an empty database, set DATABASE_URL .+\n$/);
  await database.drop();
});

test('rejects the data of an earlier build, and names the command that deletes it', async () => {
  const { path } = await newDevHome();
  const database = await openDevDatabase(testService, {}, await openHome(path, interfaceNames));
  try {
    // As an earlier release created them.
    await migrate(database.url, testService);
    const { schema, url } = await migrateDevDatabase(context, database, () => {});
    expect(schema).toBe('public');
    await runOnce(url, `update schema_migration set checksum = 'of an earlier build'`);
    await expect(migrateDevDatabase(context, database, () => {})).rejects.toThrow(
      `start \`pnpm dev\` again: rm -r '${path}'`,
    );
  } finally {
    await database.close();
  }
});
