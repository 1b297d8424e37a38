import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { noAddresses } from './address-ranges.ts';
import { appConfig, storeConnections } from './app-config.ts';
import { unreadableUrl } from './config-variables.ts';
import { ConfigError, readConfig } from './config.ts';

const schema = appConfig(testService, { adminPort: 4101 });
const key = createHash('sha256').digest();
const secretKey = key.toString('base64');
const usable = {
  DATABASE_URL: 'postgres://supplier_api@db/deedwire?sslmode=verify-full',
  WEBHOOK_SECRET_KEYS: `k1:${secretKey}`,
};

test('applies defaults to the variables that are not set or empty', () => {
  expect(readConfig(schema, { ...usable, ADMIN_PORT: ' 4101 ', ADMIN_HOST: '', UNRELATED: 'x' })).toEqual({
    ADMIN_PORT: 4101,
    ADMIN_HOST: '127.0.0.1',
    DEEDWIRE_COMMIT: 'unknown',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
    DATABASE_URL: usable.DATABASE_URL,
    DATABASE_TLS: 'required',
    GID_NAMESPACE: 'service',
    SLOW_STATEMENT_MS: 500,
    WEBHOOK_SECRET_KEYS: new Map([['k1', key]]),
    WEBHOOK_CALLBACK_POLICY: 'public',
    WEBHOOK_DENIED_RANGES: noAddresses,
  });
});

test('reports all problems in one error, including those of combinations, without secrets', () => {
  const env = {
    DATABASE_URL: 'mysql://root:hunter2@db',
    WEBHOOK_SECRET_KEYS: 'k1:hunter2',
    ADMIN_PORT: '65536',
    LOG_LEVEL: 'loud',
    GID_NAMESPACE: 'Service',
    WEBHOOK_CALLBACK_POLICY: 'development',
    WEBHOOK_DENIED_RANGES: '9.8.7.0/24,10.0.0.1/8',
    WEBHOOK_PROXY_URL: 'socks5://egress:hunter2@proxy.internal',
    NODE_ENV: 'production',
  };
  expect(() => readConfig(schema, env)).toThrow(
    [
      'The configuration is invalid:',
      '  ADMIN_PORT must be a whole number from 0 to 65535',
      '  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      '  DATABASE_URL must be a URL that begins with postgres:// or postgresql://',
      '  WEBHOOK_SECRET_KEYS must be <key id>:<base64 of 32 bytes>, several separated by commas; entry 1 is not',
      '  WEBHOOK_DENIED_RANGES must contain ranges that begin with their first address; entry 2, 10.0.0.1/8, does not',
      '  WEBHOOK_PROXY_URL must be a URL that begins with http:// or https://',
      '  GID_NAMESPACE must consist of lowercase letters, digits and hyphens, and begin with a letter',
      '  WEBHOOK_CALLBACK_POLICY must not be development unless NODE_ENV is development or test',
    ].join('\n'),
  );
});

test.each(['-1', '1.5', '1e3', '0x10', 'ten', '9'.repeat(16), '9'.repeat(400)])(
  'rejects %s as a whole number from 0 to 65535',
  (text) => {
    expect(() => readConfig(schema, { ...usable, ADMIN_PORT: text })).toThrow('ADMIN_PORT must be a whole number');
  },
);

test('names the required variables', () => {
  expect(() => readConfig(schema, {})).toThrow(
    'The configuration is invalid:\n  DATABASE_URL is required\n  WEBHOOK_SECRET_KEYS is required',
  );
});

test.each([undefined, 'production'])('rejects what is not safe when NODE_ENV is %s', (NODE_ENV) => {
  const env = { ...usable, NODE_ENV };
  expect(() => readConfig(schema, { ...env, WEBHOOK_CALLBACK_POLICY: 'development' })).toThrow(
    'WEBHOOK_CALLBACK_POLICY must not be development',
  );
  expect(() => readConfig(schema, { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toThrow(
    'NODE_TLS_REJECT_UNAUTHORIZED must not be 0',
  );
});

test.each(['development', 'test'])('accepts the callback policy development when NODE_ENV is %s', (NODE_ENV) => {
  const env = { ...usable, NODE_ENV, WEBHOOK_CALLBACK_POLICY: 'development', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(readConfig(schema, env)).toMatchObject({ NODE_ENV, WEBHOOK_CALLBACK_POLICY: 'development' });
});

test('rejects NODE_TLS_REJECT_UNAUTHORIZED=0 with the public callback policy, including in development', () => {
  const env = { ...usable, NODE_ENV: 'development', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(() => readConfig(schema, env)).toThrow('NODE_TLS_REJECT_UNAUTHORIZED must not be 0');
});

const readUrl = (url: string, env: Record<string, string> = {}) =>
  readConfig(schema, { ...usable, DATABASE_URL: url, ...env });
const tlsProblem = (found: string) =>
  `must use verified TLS, because the server is on another machine; ${found}. Add sslmode=verify-full, and ` +
  'sslrootcert=<file> for a private CA, or set DATABASE_TLS=off if the network protects the connection';

describe('TLS to the database in production', () => {
  afterEach(() => vi.unstubAllEnvs());

  const withoutTls = tlsProblem('it does not use TLS');
  const unverified = tlsProblem('it does not verify the chain and the host name of the certificate');

  test.each([
    ['postgres://app:hunter2@db.example.com/deedwire', withoutTls],
    ['postgres://app:hunter2@db.example.com/deedwire?sslmode=disable', withoutTls],
    ['postgres://app:hunter2@db.example.com/deedwire?sslmode=verify-full&sslmode=disable', withoutTls],
    ['postgres://app:hunter2@db.example.com/deedwire?ssl=0', withoutTls],
    ['postgres://app:hunter2@localhost/deedwire?host=db.example.com', withoutTls],
    ['postgres://app:hunter2@127.0.0.1/deedwire?host=127.0.0.1&host=db.example.com', withoutTls],
    ['postgres://app:hunter2@127.0.0.1%2eexample.com/deedwire', withoutTls],
    ['postgres://localhost:5432@db.example.com/deedwire', withoutTls],
    ['postgres://app:hunter2@localhost.example.com/deedwire', withoutTls],
    ['postgres://app:hunter2@10.0.0.1/deedwire', withoutTls],
    ['postgres://app:hunter2@0.0.0.0/deedwire', withoutTls],
    ['postgres://app:hunter2@[::2]/deedwire', withoutTls],
    ['postgres://app:hunter2@db.example.com/deedwire?ssl=no-verify', unverified],
    ['postgres://app:hunter2@db.example.com/deedwire?sslmode=no-verify', unverified],
    ['postgres://app:hunter2@db.example.com/deedwire?sslmode=require&uselibpqcompat=true', unverified],
    ['postgres://app:hunter2@db.example.com/deedwire?sslmode=prefer&uselibpqcompat=true', unverified],
  ])('rejects %s', (url, expected) => {
    expect(() => readUrl(url)).toThrow(`The configuration is invalid:\n  DATABASE_URL ${expected}`);
    expect(() => readUrl(usable.DATABASE_URL, { DATABASE_DIRECT_URL: url })).toThrow(
      `  DATABASE_DIRECT_URL ${expected}`,
    );
    for (const env of [{ NODE_ENV: 'development' }, { NODE_ENV: 'test' }, { DATABASE_TLS: 'off' }]) {
      expect(readUrl(url, env)).toMatchObject({ DATABASE_URL: url });
    }
  });

  test.each([
    'postgres://app@db.example.com/deedwire?sslmode=verify-full',
    'postgres://app@db.example.com/deedwire?sslmode=disable&sslmode=verify-full',
    'postgres://app@db.example.com/deedwire?sslmode=verify-full&uselibpqcompat=true',
    'postgres://app@db.example.com/deedwire?sslnegotiation=direct',
    'postgres://app@127.9.9.9/deedwire',
    'postgres://app@[::1]/deedwire',
    'postgres://app@LocalHost/deedwire',
    'postgres://app@%2Fvar%2Frun%2Fpostgresql/deedwire',
    'postgres://app@db.example.com/deedwire?host=/var/run/postgresql',
    'postgres://app:hunter2@/deedwire?host=/var/run/postgresql',
    'postgres:///deedwire?host=/cloudsql/project:region:instance&user=app&password=hunter2',
  ])('accepts %s', (url) => {
    expect(readUrl(url)).toMatchObject({ DATABASE_URL: url });
  });

  test('counts what the environment adds to the URL', () => {
    vi.stubEnv('PGSSLMODE', 'verify-full');
    expect(readUrl('postgres://app@db.example.com/deedwire')).toMatchObject({ NODE_ENV: 'production' });
    vi.stubEnv('PGSSLMODE', 'no-verify');
    expect(() => readUrl('postgres://app@db.example.com/deedwire')).toThrow(unverified);
    vi.stubEnv('PGSSLMODE', '');
    vi.stubEnv('PGHOST', 'db.example.com');
    expect(() => readUrl('postgres:///deedwire')).toThrow(withoutTls);
  });

  test.each([
    ['sslrootcert=/none/ca.pem', `cannot be used: ENOENT: no such file or directory, open '/none/ca.pem'`],
    [
      `sslrootcert=${import.meta.filename}`,
      'has a sslrootcert, sslcert or sslkey that is no certificate or key in the PEM format',
    ],
    ['port=x', 'has a port that is not a number from 1 to 65535'],
    ['ssl=off', 'has an unknown value of the parameter ssl; use sslmode=verify-full instead'],
  ])('rejects %s, with which pg cannot connect, including in development', (parameters, expected) => {
    expect(() => readUrl(`postgres://app:hunter2@db/deedwire?${parameters}`, { NODE_ENV: 'development' })).toThrow(
      `The configuration is invalid:\n  DATABASE_URL ${expected}`,
    );
  });
});

describe('URLs that other programs take', () => {
  const form = 'postgres://user:password@host:5432/database';
  const severalHosts =
    'names several hosts, but must name one; let it be a proxy that knows the primary, as docs/operations/backup.md#failover shows';

  test.each([
    ['"postgres://app:hunter2@db/deedwire"', 'must not be in quotes'],
    [`'postgres://app:hunter2@db/deedwire'`, 'must not be in quotes'],
    ['host=db dbname=deedwire password=hunter2', `must not be a list of keywords; write ${form}`],
    ['jdbc:postgresql://db/deedwire?user=app&password=hunter2', `must not begin with jdbc:; write ${form}`],
    ['postgresql+psycopg://app:hunter2@db/deedwire', `must not name a driver after the scheme; write ${form}`],
    ['postgres://app:hunter2@a,b/deedwire', severalHosts],
    ['postgres://app:hunter2@a:5432,b:5432/deedwire', severalHosts],
    ['postgres://app:hunter2@db/deedwire?host=a,b', severalHosts],
    ['postgres://app:hunter#2@db/deedwire', unreadableUrl],
    ['postgres://app:1234#hunter2@db/deedwire', unreadableUrl],
    ['postgres://app:hunter/2@db/deedwire', unreadableUrl],
    ['postgres://app:%E0%A4@db/deedwire', unreadableUrl],
    ...['db/deedwire', 'localhost:5432/db', 'http://localhost/db', '//localhost/db'].map((url): [string, string] => [
      url,
      'must be a URL that begins with postgres:// or postgresql://',
    ]),
  ])('rejects %s with a message about its form, including in development', (url, expected) => {
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
      expect(() => readConfig(schema, { ...usable, NODE_ENV: 'development', [name]: url })).toThrow(
        new ConfigError([`${name} ${expected}`]),
      );
    }
  });

  test.each([
    ['"https://docs.example"', 'must not be in quotes'],
    ['docs.example', 'must be a URL that begins with https:// or http:// or file://'],
    ['https://docs.example:port', unreadableUrl],
  ])('rejects %s as DOCUMENTATION_URL', (url, expected) => {
    expect(() => readConfig(schema, { ...usable, DOCUMENTATION_URL: url })).toThrow(
      new ConfigError([`DOCUMENTATION_URL ${expected}`]),
    );
  });
});

test.each([
  ['::', '::'],
  ['[::]', '::'],
  ['[::1]', '::1'],
  ['0.0.0.0', '0.0.0.0'],
  ['localhost', 'localhost'],
  ['127.0.0.0/8', '127.0.0.1'],
])('accepts %s as ADMIN_HOST', (text, host) => {
  expect(readConfig(schema, { ...usable, ADMIN_HOST: text })).toMatchObject({ ADMIN_HOST: host });
});

test.each(['*', '[::]:4101', '0.0.0.0:4101', 'http://localhost', '[localhost'])('rejects %s as ADMIN_HOST', (text) => {
  expect(() => readConfig(schema, { ...usable, ADMIN_HOST: text })).toThrow(
    new ConfigError(['ADMIN_HOST must be an IP address, a subnet or a host name without a port; :: is every address']),
  );
});

test('rejects a subnet as ADMIN_HOST in which this machine has no address', () => {
  expect(() => readConfig(schema, { ...usable, ADMIN_HOST: '240.0.0.0/8' })).toThrow(
    /\n {2}ADMIN_HOST must contain an address of this machine, which has .*\b127\.0\.0\.1\b/,
  );
});

describe('secrets from files', () => {
  let folder = '';
  afterEach(async () => {
    if (folder !== '') await rm(folder, { recursive: true });
    folder = '';
  });
  async function file(name: string, content: string): Promise<string> {
    folder ||= await mkdtemp(join(tmpdir(), 'deedwire-config-'));
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }

  test('reads a URL and the keys, without the newline at the end', async () => {
    const env = {
      DATABASE_URL_FILE: await file('url', `${usable.DATABASE_URL}\n`),
      DATABASE_DIRECT_URL_FILE: await file('direct', 'postgres://app@[::1]/deedwire\r\n'),
      WEBHOOK_SECRET_KEYS_FILE: await file('keys', `${usable.WEBHOOK_SECRET_KEYS}\n`),
      WEBHOOK_PROXY_URL_FILE: await file('proxy', 'http://egress:hunter2@proxy.internal:3128\n'),
    };
    expect(readConfig(schema, env)).toMatchObject({
      DATABASE_URL: usable.DATABASE_URL,
      DATABASE_DIRECT_URL: 'postgres://app@[::1]/deedwire',
      WEBHOOK_PROXY_URL: new URL('http://egress:hunter2@proxy.internal:3128'),
      WEBHOOK_SECRET_KEYS: new Map([['k1', key]]),
    });
  });

  test('reports each problem once, with the variable and the file and without the content', async () => {
    const empty = await file('empty', ' \n');
    const weak = await file('weak', 'hunter2\n');
    const env = { ...usable, LOG_LEVEL: 'loud', DATABASE_URL_FILE: '/none/url' };
    expect(() => readConfig(schema, env)).toThrow(
      /^The configuration is invalid:\n  DATABASE_URL_FILE and DATABASE_URL are both set; set one of them\n  LOG_LEVEL must.*$/,
    );
    const fromFiles = {
      DATABASE_URL_FILE: '/none/url',
      DATABASE_DIRECT_URL_FILE: empty,
      WEBHOOK_SECRET_KEYS_FILE: weak,
    };
    expect(() => readConfig(schema, fromFiles)).toThrow(
      [
        'The configuration is invalid:',
        '  DATABASE_URL_FILE names /none/url, which cannot be read: ENOENT',
        `  DATABASE_DIRECT_URL_FILE names ${empty}, which is empty`,
        '  WEBHOOK_SECRET_KEYS must be <key id>:<base64 of 32 bytes>, several separated by commas; entry 1 is not',
      ].join('\n'),
    );
  });

  test('reads other variables from the environment only', async () => {
    expect(readConfig(schema, { ...usable, LOG_LEVEL_FILE: await file('level', 'debug') })).toMatchObject({
      LOG_LEVEL: 'info',
    });
  });
});

/** The start-up options of a URL. */
const optionsOf = (url = ''): string | null => new URL(url).searchParams.get('options');

describe('DATABASE_SCHEMA', () => {
  const path = String.raw`-c search_path="deedwire",\ pg_temp`;
  const direct = 'postgres://db.internal/deedwire?sslmode=verify-full';
  const pooler = 'postgres://pooler.internal/deedwire?sslmode=verify-full';

  test.each<[string, Record<string, string>, { database: string | null; direct?: string }]>([
    ['the only connection', {}, { database: path }],
    ['the direct one, and not the pooler', { DATABASE_DIRECT_URL: direct }, { database: null, direct: path }],
    ['no connection, without a direct one', { DATABASE_PREPARED_STATEMENTS: 'off' }, { database: null }],
  ])('is the search path of %s', (_, env, expected) => {
    const config = readConfig(schema, { ...usable, DATABASE_URL: pooler, DATABASE_SCHEMA: 'deedwire', ...env });
    const { databaseUrl, directUrl } = storeConnections(config);
    expect({
      database: optionsOf(databaseUrl),
      ...(directUrl !== undefined && { direct: optionsOf(directUrl) }),
    }).toEqual(expected);
  });

  test('changes no URL if it is not set', () => {
    const config = readConfig(schema, { ...usable, DATABASE_URL: pooler, DATABASE_DIRECT_URL: direct });
    expect(storeConnections(config)).toEqual({ databaseUrl: pooler, directUrl: direct, prepares: undefined });
  });

  test.each(['a'.repeat(64), 'a\nb'])('is not %j', (name) => {
    expect(() => readConfig(schema, { ...usable, DATABASE_SCHEMA: name })).toThrow(
      'DATABASE_SCHEMA must have 1 to 63 characters',
    );
  });
});
