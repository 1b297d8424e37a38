import { chmod, chown, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { startPostgres, withClient, type PostgresServer } from '@deedwire/embedded-postgres';
import { eventually, listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { applyMigrations, createStore, describeDatabaseProblems, withTableLock } from '../src/index.ts';
import { createListener } from '../src/notifications/listener.ts';
import { createNotifier } from '../src/notifications/notifier.ts';
import { withStore } from './support/database.ts';

const certificate = (name: string) => join(import.meta.dirname, 'certificates', `${name}.pem`);

async function query(databaseUrl: string): Promise<void> {
  await withStore(databaseUrl, (store) => store.query({ name: 'one', text: 'select 1' }, []));
}

/** Each way to open a connection. Resolves when it has connected, and rejects with the reason why it could not. */
const ways: Record<string, (databaseUrl: string) => Promise<unknown>> = {
  query,
  transaction: (databaseUrl) => withStore(databaseUrl, (store) => store.transaction(async () => {})),
  lock: (directUrl) => withTableLock({ directUrl, applicationName: 'test', table: 'pg_class' }, async () => {}),
  migrate: (databaseUrl) => applyMigrations(databaseUrl, [], {}),
  async listener(databaseUrl) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const listener = createListener({ databaseUrl, applicationName: 'test', onWake: resolve, onError: reject });
    try {
      await promise;
    } finally {
      await listener.close();
    }
  },
  async notifier(databaseUrl) {
    const errors: unknown[] = [];
    const notifier = createNotifier({ databaseUrl, applicationName: 'test', onError: (error) => errors.push(error) });
    notifier.notify('x');
    await notifier.close();
    if (errors.length > 0) throw errors[0];
  },
};
const everyWay = Object.entries(ways);

/** The error itself or its cause, whose message and code say what went wrong. */
async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? (error.cause ?? error) : error;
}

/** A message of the server that asks for a method of authentication. */
function askFor(method: number, details = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.write('R');
  head.writeInt32BE(8 + details.length, 1);
  head.writeInt32BE(method, 5);
  return Buffer.concat([head, details]);
}

afterEach(() => vi.unstubAllEnvs());

describe('a server that is not ours', () => {
  const tlsRequest = 80_877_103;
  const clearText = askFor(3);
  const scram = askFor(10, Buffer.from('SCRAM-SHA-256\0\0'));

  /** Refuses TLS, and answers the first messages of a client with `answers`. */
  async function startImpostor(answers: readonly Buffer[]) {
    const received: Buffer[] = [];
    const server = createServer((socket) => {
      let answered = 0;
      socket.on('data', (data: Buffer) => {
        received.push(data);
        if (data.length === 8 && data.readInt32BE(4) === tlsRequest) return void socket.write('N');
        const answer = answers[answered];
        answered += 1;
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
    });
    const listening = await listen(server);
    return {
      url: `postgres://app:hunter2@127.0.0.1:${listening.port}/db`,
      received: () => Buffer.concat(received),
      close: () => listening.close(),
    };
  }

  test.each(everyWay)('does not get the password by asking for clear text: %s', async (_name, open) => {
    const impostor = await startImpostor([clearText]);
    const reason = await reasonOf(open(impostor.url));
    expect(reason).toMatchObject({
      message: expect.stringMatching(
        /asked for the password in clear text.*not sent.*scram-sha-256.*sslmode=verify-full/,
      ),
    });
    expect(impostor.received().includes('user\0app')).toBe(true);
    expect(impostor.received().includes('hunter2')).toBe(false);
    await impostor.close();
  });

  test('does not get the password by asking for clear text after another method', async () => {
    const impostor = await startImpostor([scram, clearText]);
    expect(await reasonOf(query(impostor.url))).toMatchObject({ name: 'ClearTextPasswordError' });
    expect(impostor.received().includes('SCRAM-SHA-256')).toBe(true);
    expect(impostor.received().includes('hunter2')).toBe(false);
    await impostor.close();
  });

  test.each([
    ['SCRAM', scram],
    ['MD5', askFor(5, Buffer.from('salt'))],
  ])('is named as asking for a password that the URL lacks: %s', async (_name, question) => {
    vi.stubEnv('PGPASSWORD', undefined);
    vi.stubEnv('PGPASSFILE', certificate('missing'));
    const impostor = await startImpostor([question]);
    for (const [, open] of everyWay)
      expect(await reasonOf(open(impostor.url.replace(':hunter2', '')))).toMatchObject({
        message:
          'The server asked for a password, but the database URL has none. Add it to the URL, or export PGPASSWORD.',
      });
    await impostor.close();
  });

  test.each(everyWay)('gets nothing after it refused TLS: %s', async (_name, open) => {
    const impostor = await startImpostor([clearText]);
    const url = `${impostor.url}?sslmode=verify-full`;
    expect(await reasonOf(open(url))).toMatchObject({ message: 'The server does not support SSL connections' });
    expect(impostor.received()).toHaveLength(8);
    await impostor.close();
  });
});

describe('a PostgreSQL server with TLS', () => {
  let server: PostgresServer;
  let folder: string;
  let url: string;

  beforeAll(async () => {
    server = await startPostgres();
    const directory = await ask('show data_directory');
    folder = join(directory, 'certificates');
    await mkdir(folder);
    for (const name of ['server-key', 'valid', 'other-host', 'expired']) await give(name, directory);
    await ask(`alter system set ssl_key_file = '${folder}/server-key.pem'`);
    await present('valid');
    await ask('alter system set ssl = on');
    await reload('ssl', 'on');
    url = `${server.url}?sslmode=verify-full&sslrootcert=${certificate('ca')}`;
  }, 60_000);

  afterAll(() => server.stop());

  async function ask(statement: string): Promise<string> {
    return withClient(server.url, async (client) => {
      const { rows } = await client.query<Record<string, string>>(statement);
      return Object.values(rows[0] ?? {})[0] ?? '';
    });
  }

  async function reload(setting: string, value: string): Promise<void> {
    await ask('select pg_reload_conf()');
    await eventually(async () => expect(await ask(`show ${setting}`)).toBe(value));
  }

  /** Copies a file for the user that runs the server. PostgreSQL rejects keys that others can read. */
  async function give(name: string, directory: string): Promise<void> {
    const path = join(folder, `${name}.pem`);
    await copyFile(certificate(name), path);
    const { uid, gid } = await stat(directory);
    await chown(folder, uid, gid);
    await chown(path, uid, gid);
    await chmod(path, 0o600);
  }

  async function present(name: string): Promise<void> {
    await ask(`alter system set ssl_cert_file = '${folder}/${name}.pem'`);
    await reload('ssl_cert_file', `${folder}/${name}.pem`);
  }

  test.each(everyWay)('is accepted with the right certificate: %s', async (_name, open) => {
    await present('valid');
    expect(await reasonOf(open(url))).toBeNull();
  });

  test('is accepted with direct negotiation', async (context) => {
    // PostgreSQL 17 is the first version that expects TLS at once.
    if (Number(await ask('show server_version_num')) < 170_000) return context.skip();
    await present('valid');
    expect(await reasonOf(query(`${url}&sslnegotiation=direct`))).toBeNull();
  });

  test.each(everyWay)('is rejected with a certificate for another host: %s', async (_name, open) => {
    await present('other-host');
    expect(await reasonOf(open(url))).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  test('keeps an app with the reason from becoming ready', async () => {
    await present('other-host');
    await withStore(url, async (store) =>
      expect(await describeDatabaseProblems(store, testService, 'supplier_api')).toEqual([
        'the database is not available: ERR_TLS_CERT_ALTNAME_INVALID (the URL names 127.0.0.1, the certificate DNS:db.example.com)',
      ]),
    );
  });

  test('is rejected with an expired certificate', async () => {
    await present('expired');
    expect(await reasonOf(query(url))).toMatchObject({ code: 'CERT_HAS_EXPIRED' });
  });

  test('is rejected with a certificate of an unknown CA, even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    await present('valid');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const code = expect.stringMatching(/^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)$/);
    for (const parameters of ['sslmode=verify-full', `sslrootcert=${certificate('other-ca')}`]) {
      expect(await reasonOf(query(`${server.url}?${parameters}`))).toMatchObject({ code });
    }
  });

  test('is accepted by an open pool once the file of its CA has been replaced', async () => {
    await present('valid');
    const ca = join(folder, 'ca-of-clients.pem');
    await copyFile(certificate('ca'), ca);
    const one = { name: '', text: 'select pg_backend_pid() as pid' };
    const databaseUrl = `${server.url}?sslmode=verify-full&sslrootcert=${ca}`;
    const store = await forTest(createStore({ databaseUrl, applicationName: 'test' }));
    const endConnection = async (): Promise<void> => {
      const [{ pid } = {}] = await store.query<{ pid: number }>(one, []);
      await ask(`select pg_terminate_backend(${pid}, 10000)`);
      expect(store.poolState().certificateEndsAt).toEqual(new Date('2120-01-01T00:00:00Z'));
      await eventually(async () => expect(store.poolState()).toMatchObject({ idle: 0, inUse: 0 }));
    };
    await endConnection();
    await copyFile(certificate('other-ca'), ca);
    expect(await reasonOf(store.query(one, []))).toMatchObject({
      code: expect.stringMatching(/^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)$/),
    });
    await copyFile(certificate('ca'), ca);
    await endConnection();
    // As while it is replaced.
    await writeFile(ca, 'no certificate');
    expect(await store.query(one, [])).toHaveLength(1);
  });

  test('gets the password in clear text over verified TLS only', async () => {
    await present('valid');
    const hbaFile = await ask('show hba_file');
    await writeFile(hbaFile, 'host all all 127.0.0.1/32 password\n');
    await withClient(url, (client) => client.query('select pg_reload_conf()'));
    const refused = { name: 'ClearTextPasswordError' };
    await eventually(async () => expect(await reasonOf(query(server.url))).toMatchObject(refused));
    expect(await reasonOf(query(`${server.url}?sslmode=no-verify`))).toMatchObject(refused);
    expect(await reasonOf(query(url))).toBeNull();
  });
});
