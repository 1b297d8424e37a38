import { Client } from 'pg';
import { expect, test } from 'vitest';
import { urlOf, withClient } from '../src/database.ts';
import { createTestDatabase, terminateBackends } from '../src/index.ts';

const groupRole = `DO $$ BEGIN CREATE ROLE operator NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`;

async function prepare(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query(`CREATE TABLE note (text text); ${groupRole}; GRANT SELECT ON note TO operator`),
  );
}

test('createTestDatabase prepares the template once and gives each of several concurrent callers a separate database', async () => {
  let prepared = 0;
  const callers = Array.from({ length: 6 }, () =>
    createTestDatabase({
      template: 'test_postgres_shared',
      async prepare(databaseUrl) {
        prepared += 1;
        await prepare(databaseUrl);
      },
    }),
  );
  const databases = await Promise.all(callers);
  expect(prepared).toBe(1);
  expect(new Set(databases.map((database) => database.databaseUrl)).size).toBe(6);
  for (const { databaseUrl } of databases) {
    const { rowCount } = await withClient(databaseUrl, (client) =>
      client.query(`INSERT INTO note VALUES ('mine') RETURNING *`),
    );
    expect(rowCount).toBe(1);
  }
  await Promise.all(databases.map((database) => database.drop()));
});

test('createTestDatabase prepares the template again after a failed preparation', async () => {
  const template = 'test_postgres_failing';
  const failing = createTestDatabase({ template, prepare: () => Promise.reject(new Error('broken migration')) });
  await expect(failing).rejects.toThrow('broken migration');
  const database = await createTestDatabase({ template, prepare });
  await withClient(database.databaseUrl, (client) => client.query('SELECT * FROM note'));
  await database.drop();
});

test('urlFor returns a login with exactly the rights of its group role, until drop removes it', async () => {
  const database = await createTestDatabase({ template: 'test_postgres_roles', prepare });
  const url = await database.urlFor('operator');
  expect(await database.urlFor('operator')).toBe(url);
  await withClient(url, (client) => client.query('SELECT * FROM note'));
  await expect(withClient(url, (client) => client.query('DELETE FROM note'))).rejects.toThrow('permission denied');
  await database.drop();
  await expect(withClient(url, (client) => client.query('SELECT 1'))).rejects.toThrow(/authentication failed/);
});

test('terminateBackends ends the other sessions of the database', async () => {
  const database = await createTestDatabase({ template: 'test_postgres_roles', prepare });
  await withClient(database.databaseUrl, async (client) => {
    expect(await terminateBackends(database.databaseUrl)).toBe(1);
    await expect(client.query('SELECT 1')).rejects.toThrow(/terminat|not queryable/);
  });
  await database.drop();
});

/** Opens a session and begins to drop its database. */
async function dropInUse(): Promise<{
  databaseUrl: string;
  session: Client;
  errors: unknown[];
  dropped: Promise<void>;
}> {
  const database = await createTestDatabase({ template: 'test_postgres_roles', prepare });
  const session = new Client({ connectionString: database.databaseUrl });
  const errors: unknown[] = [];
  session.on('error', (error) => errors.push(error));
  await session.connect();
  return { databaseUrl: database.databaseUrl, session, errors, dropped: database.drop() };
}

test('drop does not terminate a session that ends soon', async () => {
  const { databaseUrl, session, errors, dropped } = await dropInUse();
  const name = new URL(databaseUrl).pathname.slice(1);
  await withClient(urlOf(databaseUrl, 'postgres'), async (observer) => {
    const drops = () =>
      observer.query(`SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1`, [`DROP%"${name}"%`]);
    await expect.poll(drops).toMatchObject({ rowCount: 1 });
  });
  await session.end();
  await dropped;
  expect(errors).toEqual([]);
});

test('drop terminates a session that stays', async () => {
  const { errors, dropped } = await dropInUse();
  await dropped;
  await expect.poll(() => errors).toContainEqual(expect.objectContaining({ code: '57P01' }));
});
