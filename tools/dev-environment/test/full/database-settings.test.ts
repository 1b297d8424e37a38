import { createTestDatabase } from '@deedwire/embedded-postgres';
import { runOnce } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { newDevHome } from '../dev-process.ts';

/** A database on which transactions begin with another isolation than the apps need. */
async function serializableDatabase(): Promise<string> {
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  onTestFinished(() => database.drop());
  const { databaseUrl } = database;
  const name = new URL(databaseUrl).pathname.slice(1);
  await runOnce(databaseUrl, `alter database "${name}" set default_transaction_isolation = 'serializable'`);
  return databaseUrl;
}

test('starts on a database with another default isolation, which sessions set', async () => {
  const home = await newDevHome();
  const dev = home.start({ DATABASE_URL: await serializableDatabase(), DATABASE_DIRECT_URL: '' });
  await home.whenReady(dev);
  // On a busy machine, an app can wait for its first connection and say so.
  expect(dev.output()).not.toContain('default_transaction_isolation');
});

test('ends behind a pooler, which does not pass settings on, and names the setting', async () => {
  const home = await newDevHome();
  const url = await serializableDatabase();
  const dev = home.start({ DATABASE_URL: url, DATABASE_DIRECT_URL: url });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toMatch(
    /did not start: the setting default_transaction_isolation is "serializable", but must be "read committed"; .* run: alter database/,
  );
});
