import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStore } from '@deedwire/store';
import { listen } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { devConfig } from '../../src/dev-config.ts';
import { migrateDevDatabase, openDevDatabase } from '../../src/dev-database.ts';
import { openHome } from '../../src/home.ts';
import { newDevHome } from '../dev-process.ts';

test('--help prints the options', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--help'] });
  expect(await dev.ended).toBe(0);
  expect(dev.output()).toMatch(/^Usage: npx -y pnpm@[\d.]+ dev \[options\]\n[\s\S]*--receiver/);
});

test('an unknown option exits with 2 and one line', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--reciever'] });
  expect(await dev.ended).toBe(2);
  expect(dev.output()).toMatch(/^Unknown option '--reciever'\. `npx -y pnpm@[\d.]+ dev --help` lists the options\.\n$/);
});

test('exits with 1 and the name of the variable of a port that is in use', async () => {
  const holder = await listen(createServer());
  onTestFinished(() => holder.close());
  const dev = (await newDevHome()).start({ PARTNER_API_PORT: String(holder.port) });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toBe(
    `PARTNER_API_PORT: port ${holder.port} is in use. Set PARTNER_API_PORT to another port, or to 0 to select a free one.\n`,
  );
});

test('exits with 1 and every error of a wrong configuration', async () => {
  const dev = (await newDevHome()).start({ LENDER_API_PORT: 'x', DATABASE_URL: 'mysql://x' });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toBe(
    `The configuration is invalid:
  DATABASE_URL must be a URL that begins with postgres:// or postgresql://
  LENDER_API_PORT must be a whole number from 0 to 65535
`,
  );
});

test('rejects the data of an earlier build, and names the command that deletes it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  const database = await openDevDatabase(devConfig.parse({}), await openHome(directory));
  try {
    await migrateDevDatabase(database, () => {});
    const store = createStore({ databaseUrl: database.url, applicationName: 'test' });
    await store.query({ name: 'change', text: `update schema_migration set checksum = 'of an earlier build'` }, []);
    await store.close();
    await expect(migrateDevDatabase(database, () => {})).rejects.toThrow(
      `start \`pnpm dev\` again: rm -r '${directory}'`,
    );
  } finally {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test('reports that the server of DATABASE_URL is unavailable', async () => {
  const home = await newDevHome();
  const dev = home.start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toMatch(/The database is not available\. \(connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/);
});
