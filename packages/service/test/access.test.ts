import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateSecretKeys } from '@deedwire/development';
import { createTestDatabase, withClient } from '@deedwire/embedded-postgres';
import { runOperator, type Surroundings } from '@deedwire/operator';
import { defaultPlaceOf, migrate } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { defineService, startWorker } from '../src/index.ts';
import { startService } from '../src/testing.ts';
import { root } from './application.ts';

const service = defineService({
  names: {
    service: 'access',
    gidNamespace: 'access',
    apiKeyPrefix: 'ac',
    headerPrefix: 'X-Access',
    userAgent: 'Access',
  },
  interfaces: { customer: { title: 'Customer', account: 'Customer', versions: { '2026-11-01': {} } } },
});

/** An application whose SDL is that of the common half. */
const app = pathToFileURL(join(root, '../../examples/orders/package.json')).href;

/** One without tables, and one that the owner of the server has migrated. */
const fresh = await forFile(createTestDatabase({ template: 'access_fresh', prepare: async () => {} }));
const migrated = await forFile(
  createTestDatabase({
    template: 'access_migrated',
    prepare: async (url) => void (await migrate(url, service, { defaults: defaultPlaceOf(service) })),
  }),
);

const [poor, closed] = [`poor_${process.pid}`, `closed_${process.pid}`];
beforeAll(() =>
  withClient(fresh.databaseUrl, (client) =>
    client.query(`create role ${poor} login password 'x'; create role ${closed} nologin password 'x'`),
  ),
);
afterAll(() => withClient(fresh.databaseUrl, (client) => client.query(`drop role ${poor}, ${closed}`)));

function urlOf(
  database: string,
  parts: Partial<Record<'username' | 'password' | 'pathname' | 'port' | 'search', string>>,
) {
  return Object.assign(new URL(database), { username: poor, password: 'x', ...parts }).href;
}
const { host, pathname } = new URL(fresh.databaseUrl);
const nameOfFresh = pathname.slice(1);

/** What a command of the operator CLI prints. */
async function operator(databaseUrl: string, ...commandArguments: readonly string[]): Promise<string> {
  const output = new PassThrough();
  const chunks: string[] = [];
  output.on('data', (chunk) => void chunks.push(String(chunk)));
  const env = { NODE_ENV: 'test', DATABASE_URL: databaseUrl };
  const streams = { stdin: new PassThrough().end(), stdout: output, stderr: output };
  const surroundings = { env, ...streams, build: { version: '0' } } as unknown as Surroundings;
  await runOperator(async () => ({ service, commands: [] }), surroundings, commandArguments);
  return chunks.join('');
}

const connections: readonly [what: string, databaseUrl: string, message: string][] = [
  [
    'a wrong password',
    urlOf(fresh.databaseUrl, { password: 'wrong' }),
    `PostgreSQL at ${host} does not accept the login ${poor} with this password. Correct the URL of the database.`,
  ],
  [
    'a login that may not connect',
    urlOf(fresh.databaseUrl, { username: closed }),
    `PostgreSQL at ${host} refuses the login ${closed} for the database ${nameOfFresh} without TLS. If the server needs TLS, add sslmode=verify-full to the URL of the database. Otherwise allow the login in pg_hba.conf.`,
  ],
  [
    'a database that does not exist',
    urlOf(fresh.databaseUrl, { pathname: '/no-shop' }),
    `PostgreSQL at ${host} has no database "no-shop". Correct the URL of the database, or create it as a superuser: create database "no-shop" owner ${poor}`,
  ],
  [
    'a server that is not there',
    urlOf(fresh.databaseUrl, { port: '1' }),
    'No PostgreSQL server accepts connections at 127.0.0.1:1. Start it, or correct the URL of the database.',
  ],
  [
    'a server without TLS',
    urlOf(fresh.databaseUrl, { search: '?sslmode=require' }),
    `PostgreSQL at ${host} does not support TLS, which the URL of the database requires. Turn on \`ssl\` in the server.`,
  ],
];

test.each(connections)(
  '%s is named by `migrate`, other commands and `startService`',
  async (_, databaseUrl, message) => {
    vi.stubEnv('DATABASE_URL', databaseUrl);
    try {
      expect(await operator(databaseUrl, 'database', 'migrate')).toContain(`error: ${message}`);
      expect(await operator(databaseUrl, 'account', 'list')).toContain(`error: ${message}`);
      await expect(startService(service, { app })).rejects.toThrow(message);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

test.each([
  [
    'a wrong password',
    { password: 'wrong' },
    '28P01, the server does not accept the login of DATABASE_URL with this password',
  ],
  [
    'a login that may not connect',
    { username: closed },
    '28000, the server refuses the login of DATABASE_URL, or its connection without TLS',
  ],
  [
    'a database that does not exist',
    { pathname: '/no-shop' },
    '3D000, the server has no database with the name in DATABASE_URL',
  ],
])('%s is named by `/ready` of the worker', async (_, parts, reason) => {
  const options = {
    app: import.meta.url,
    servesAdmin: true,
    env: {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      WEBHOOK_SECRET_KEYS: generateSecretKeys(),
      DATABASE_URL: urlOf(migrated.databaseUrl, parts),
    },
  };
  const worker = await startWorker(service, options);
  try {
    await expect
      .poll(async () => (await fetch(`${worker.adminUrl}/ready`)).json(), { timeout: 10_000 })
      .toEqual({ ready: false, problems: [`the database is not available: ${reason}`] });
  } finally {
    await worker.stop();
  }
});

test('a login without rights gets what it lacks', async () => {
  const [ofFresh, ofMigrated] = [urlOf(fresh.databaseUrl, {}), urlOf(migrated.databaseUrl, {})];
  expect(await operator(ofFresh, 'database', 'migrate')).toContain(
    'error: Nothing was migrated: there is no schema deedwire that this login may use, and it may not create schemas; as the owner of the database',
  );
  expect(await operator(ofMigrated, 'database', 'migrate')).toMatch(
    /^error: Nothing was migrated: the login lacks the right to .* in the schema deedwire; the tables are there: migrate with the login of their owner, \S+\.\n$/,
  );
  expect(await operator(ofMigrated, 'account', 'list')).toBe(
    'error: The tables are in the schema deedwire, which this login may not use; let this app have its own login, which `npx deedwire operator database logins` prints, or the login of their owner\n',
  );

  vi.stubEnv('DATABASE_URL', ofFresh);
  try {
    await expect(startService(service, { app })).rejects.toThrow(
      `The login ${poor} lacks a right in the database ${nameOfFresh}: permission denied to create database. \`startService\` creates a database for each test, and migrates it. Run as a superuser: alter role ${poor} createdb`,
    );
  } finally {
    vi.unstubAllEnvs();
  }
});

test.each([
  ['a new database', fresh.databaseUrl],
  ['a migrated database', migrated.databaseUrl],
])('`deedwire dev --existing` says which right it needs in %s', async (_, database) => {
  const home = await mkdtemp(join(tmpdir(), 'deedwire-access-'));
  const args = ['--conditions=deedwire-source', join(root, 'src/bin.ts'), 'dev', '--existing'];
  const env = { ...process.env, DATABASE_URL: urlOf(database, {}), DEEDWIRE_HOME: home, PATIENT_API_PORT: '0' };
  try {
    const name = new URL(database).pathname.slice(1);
    await expect(
      promisify(execFile)(process.execPath, args, { cwd: join(root, '../../examples/clinic'), env }),
    ).rejects.toMatchObject({
      code: 1,
      stderr: `error: The login ${poor} lacks a right in the database ${name}: permission denied for database ${name}. \`npx deedwire dev\` needs the login that owns the tables, and may create a schema for what it keeps. Run as the owner of the database: grant create on database ${name} to ${poor}\n`,
    });
  } finally {
    await rm(home, { recursive: true });
  }
});
