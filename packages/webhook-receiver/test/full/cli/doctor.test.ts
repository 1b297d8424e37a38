import { createServer } from 'node:http';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { listen } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { nodeOf } from '../../../src/cli/doctor.ts';
import { postgresStore } from '../../../src/postgres.ts';
import { call } from '../../support/call.ts';

const database = await forFile(createTestDatabase({ template: 'webhook_receiver_doctor', prepare: async () => {} }));
const pool = await forFile(new Pool({ connectionString: database.databaseUrl }));

/** An interface whose clock is off. */
async function startApi(aheadMs: number, respond: object, status = 200): Promise<Record<string, string>> {
  const server = createServer((_, response) => {
    response.writeHead(status, { date: new Date(Date.now() + aheadMs).toUTCString() }).end(JSON.stringify(respond));
  });
  const { port } = await forTest(listen(server));
  const DEEDWIRE_URL = `http://127.0.0.1:${port}/graphql`;
  return { DEEDWIRE_URL, CLIENT_ID: 'client', API_KEY: 'key-of-a-client', ORGANIZATION_ID: 'organization' };
}

test('passes an environment that is right', async () => {
  await postgresStore(pool).createTable();
  const api = await startApi(0, { data: { __typename: 'Query' } });
  const env = { ...api, WEBHOOK_SECRET: generateWebhookSecret(), DATABASE_URL: database.databaseUrl };
  const { exitCode, stdout, stderr } = await call(['doctor'], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.match(/^✓ \w+/gm)).toEqual(['✓ node', '✓ secret', '✓ tls', '✓ clock', '✓ api', '✓ store']);
});

test('says what is wrong and what to do', async () => {
  const api = await startApi(-400_000, { errors: [{ message: 'No such key.' }] }, 401);
  const env = { ...api, WEBHOOK_SECRET: 'whsec_short', DATABASE_URL: database.databaseUrl };
  const { exitCode, stdout, stderr } = await call(['doctor', '--table', 'other'], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'deedwire-webhook-receiver: 4 checks failed.\n' });
  expect(stdout).toMatch(/^✗ secret +a secret is malformed$/m);
  expect(stdout).toMatch(/^✗ clock +(?:399|400|401) s from the clock of the interface$/m);
  expect(stdout).toMatch(/^✗ api +the API responded 401: No such key\.$/m);
  expect(stdout).toMatch(/^✗ store +no table "other"\n {2}Fix: Call createTable\(\)/m);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('reads the secrets of a file', async () => {
  const input = `${generateWebhookSecret()}\n${generateWebhookSecret()}\n`;
  expect((await call(['doctor', '--secret-file', '-'], { input })).stdout).toMatch(/^✓ secret +2 secrets$/m);
});

test('names the rights that the login of the service misses', async () => {
  await postgresStore(pool, { table: 'granted' }).createTable();
  await pool.query(`create role doctor login password 'doctor'; grant select, insert on granted to doctor`);
  const url = new URL(database.databaseUrl);
  [url.username, url.password] = ['doctor', 'doctor'];
  const { stdout } = await call(['doctor', '--table', 'granted'], { env: { DATABASE_URL: url.href } });
  await pool.query('drop owned by doctor; drop role doctor');
  expect(stdout).toMatch(/^✗ store +no right to update, delete in "granted"$/m);
  expect(stdout).toMatch(/^- api +DEEDWIRE_URL is not set$/m);
});

test.each(['http://doctor:canary-of-a-login@127.0.0.1:1/graphql', 'canary-of-a-login'])(
  'prints no part of %s',
  async (DEEDWIRE_URL) => {
    const env = { DEEDWIRE_URL, CLIENT_ID: 'client', API_KEY: 'key-of-a-client', ORGANIZATION_ID: 'organization' };
    const { exitCode, stdout, stderr } = await call(['doctor'], { env });
    expect(exitCode).toBe(1);
    expect(stdout.match(/DEEDWIRE_URL must be an absolute URL/g)).toHaveLength(3);
    expect(stdout + stderr).not.toContain('canary');
  },
);

test('refuses http to another machine, and old releases of Node', async () => {
  const { stdout } = await call(['doctor'], { env: { DEEDWIRE_URL: 'http://192.0.2.1:1/graphql' } });
  expect(stdout).toMatch(/^✗ tls +http\n {2}Fix: Use https/m);
  expect([nodeOf('18.20.4').result, nodeOf('20.0.0').result]).toEqual(['fail', 'pass']);
});
