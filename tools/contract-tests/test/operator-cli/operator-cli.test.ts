import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createMigratedDatabase, callOperator } from '@deedwire/dev-environment/harness';
import { createStore } from '@deedwire/store';
import { compileCache, runOnce, startTcpProxy } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const database = await forFile(createMigratedDatabase());
// The login is only in the group role `operator`, as in production. On a busy machine any statement can be slow.
const env = { DATABASE_URL: await database.urlFor('operator'), SLOW_STATEMENT_MS: '0' };

async function operate(...commandArguments: string[]): Promise<Record<string, unknown>> {
  const result = await callOperator(env, ...commandArguments, '--json');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout);
}

async function createAccount(noun: 'supplier'): Promise<string> {
  const organization = await operate('organization', 'create', '--name', 'Harbour');
  const account = await operate(noun, 'create', '--organization', String(organization['id']), '--name', 'Keystone');
  return String(account['id']);
}

/** As an application does. */
async function createAccountWithId(interfaceName: string, externalId: string): Promise<string> {
  const statement = `select create_account('${interfaceName}', '${externalId}', 'Ada', gid('Organization', min(id)::text)) as gid from organization`;
  const [row] = await runOnce(database.databaseUrl, statement);
  return String(row?.['gid']);
}

async function helpOf(...words: string[]): Promise<string> {
  return (await callOperator(env, ...words, '--help')).stdout;
}

/** The nouns, or the verbs of a noun, in a help text. */
function commandsOf(help: string): string[] {
  const list = help.slice(help.indexOf('\nCommands:'));
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].flatMap(([, name = '']) => (name === 'help' ? [] : [name]));
}

describe('deedwire-operator', () => {
  test('creates an organization and an account of it', async () => {
    const organization = await operate('organization', 'create', '--name', 'Harbour');
    expect(organization).toEqual({
      id: expect.stringMatching(/^gid:\/\/service\/Organization\/\d+$/),
      name: 'Harbour',
    });
    const of = ['--organization', String(organization['id'])];
    expect(await operate('supplier', 'create', ...of, '--name', 'Northwind')).toEqual({
      id: expect.stringMatching(/^gid:\/\/service\/Supplier\/\d+$/),
      name: 'Northwind',
    });
  });

  test('finds an account by the id that an application gave it', async () => {
    await operate('organization', 'create', '--name', 'Harbour');
    // As a number, it could be an id of ours.
    const ofCustomer = await createAccountWithId('customer', '4711');
    await operate('credential', 'issue', '--account', '4711', '--name', 'first');
    const { stdout } = await callOperator(env, 'client', 'list', '--account', ofCustomer, '--json');
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ accountId: ofCustomer, liveKeys: 1 })]);
    const origin = 'https://portal.example';
    expect(await operate('portal', 'link', '--account', '4711', '--origin', origin)).toMatchObject({
      url: expect.stringContaining(`${origin}/customer/portal/`),
    });

    const ofSupplier = await createAccountWithId('supplier', '4711');
    expect(await callOperator(env, 'credential', 'issue', '--account', '4711')).toMatchObject({
      exitCode: 1,
      stderr: `error: Several interfaces have an account 4711. Pass ${ofCustomer} or ${ofSupplier}.\n`,
    });
    await operate('credential', 'issue', '--account', '4711', '--interface', 'supplier');
  });

  test('pins a new client to the current or the given version, and changes the pin', async () => {
    const account = ['--interface', 'supplier', '--account', await createAccount('supplier')];
    const { clientId } = await operate('credential', 'issue', ...account);
    await operate('credential', 'issue', ...account, '--schema-version', '2027-02-01');
    const pins = async () => {
      const { stdout } = await callOperator(env, 'credential', 'list', ...account, '--json');
      return JSON.parse(stdout).map(({ schemaVersion }: { schemaVersion: string }) => schemaVersion);
    };
    expect(await pins()).toEqual(['2026-11-01', '2027-02-01']);
    expect(await operate('client', 'pin', String(clientId), '--schema-version', '2027-02-01')).toEqual({
      clientId,
      schemaVersion: '2027-02-01',
      previousSchemaVersion: '2026-11-01',
    });
    expect(await pins()).toEqual(['2027-02-01', '2027-02-01']);

    const versions = 'The supplier interface has no version 1999-01-01. It has: 2026-11-01, 2027-02-01.';
    for (const rejected of [
      await callOperator(env, 'client', 'pin', String(clientId), '--schema-version', '1999-01-01'),
      await callOperator(env, 'credential', 'issue', ...account, '--schema-version', '1999-01-01'),
    ]) {
      expect(rejected).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${versions}\n` });
    }
    const another = ['credential', 'issue', ...account, '--client', String(clientId), '--schema-version', '2026-11-01'];
    expect((await callOperator(env, ...another)).stderr).toContain('is pinned already');
    const unknown = await callOperator(env, 'client', 'pin', 'supplier_nobody', '--schema-version', '2026-11-01');
    expect(unknown).toMatchObject({ exitCode: 1, stderr: 'error: The client supplier_nobody does not exist.\n' });
  });

  test('sets the limit of a client, and rejects numbers that are no limits', async () => {
    const account = ['--interface', 'supplier', '--account', await createAccount('supplier')];
    const clientId = String((await operate('credential', 'issue', ...account))['clientId']);
    const setLimit = (maximum: string, restoreRate: string, id = clientId) =>
      callOperator(env, 'client', 'set-limit', id, '--maximum', maximum, '--restore-rate', restoreRate);

    expect(await setLimit('5000', '500')).toEqual({
      exitCode: 0,
      stdout:
        `Set the limit of the client ${clientId} to 5000 points, restored at 500 per second; ` +
        'previously 2000 and 200\n',
      stderr: '',
    });
    const [listed] = JSON.parse((await callOperator(env, 'credential', 'list', ...account, '--json')).stdout);
    expect(listed).toMatchObject({ clientId, costMaximum: 5_000, costRestoreRate: 500 });

    const range = 'must be a whole number from';
    const malformed = 'It must be a whole number, for example 5000.';
    for (const [maximum, restoreRate, exitCode, message, id] of [
      ['999', '500', 1, `error: The maximum ${range} 1,000 to 1,000,000,000; it is 999.\n`],
      ['1000000001', '500', 1, 'it is 1000000001.'],
      ['5000', '0', 1, `error: The restore rate ${range} 1 to 1,000,000,000; it is 0.\n`],
      ...['-1', '1.5', '1e4', 'many', ''].map((wrong) => [wrong, '500', 2, malformed] as const),
      ['5000', '500', 1, 'error: The client supplier_nobody does not exist.\n', 'supplier_nobody'],
    ] as const)
      expect(await setLimit(maximum, restoreRate, id)).toMatchObject({
        exitCode,
        stderr: expect.stringContaining(message),
      });
    const help = await callOperator(env, 'client', 'set-limit', '--help');
    expect(help.stdout).toContain('--restore-rate <points per second>');
    const [unchanged] = JSON.parse((await callOperator(env, 'credential', 'list', ...account, '--json')).stdout);
    expect(unchanged).toMatchObject({ costMaximum: 5_000, costRestoreRate: 500 });
  });
});

describe('the database connection', () => {
  test('uses the database of the running `pnpm dev` when DATABASE_URL is not set', async () => {
    const { path: home } = await forTest(temporaryFolder('home'));
    const missing = await callOperator({ DEEDWIRE_HOME: home }, 'delivery', 'list');
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' });
    expect(missing.stderr).toMatch(
      /^error: No database: DATABASE_URL is not set, and .*dev\.json does not exist or is invalid\./,
    );

    await writeFile(join(home, 'dev.json'), JSON.stringify({ databaseUrl: env['DATABASE_URL'] }));
    expect(await callOperator({ DEEDWIRE_HOME: home }, 'delivery', 'list', '--json')).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
  });

  test('needs verified TLS to another machine', async () => {
    const { path: home } = await forTest(temporaryFolder('home'));
    // The port 1 of an address for documentation: nothing is sent if the URL is rejected.
    const databaseUrl = 'postgres://ada:hunter2@192.0.2.1:1/deedwire';
    await writeFile(join(home, 'dev.json'), JSON.stringify({ databaseUrl }));
    const rejected = {
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /must use verified TLS, because the server is on another machine; it does not use TLS\. Add sslmode=verify-full/,
      ),
    };
    const results = await Promise.all([
      callOperator({ DATABASE_URL: databaseUrl }, 'delivery', 'list'),
      callOperator({ DATABASE_URL: databaseUrl }, 'database', 'migrate'),
      callOperator({ ...env, DATABASE_DIRECT_URL: databaseUrl }, 'database', 'migrate'),
      callOperator({ DEEDWIRE_HOME: home }, 'delivery', 'list'),
    ]);
    expect(results).toEqual([rejected, rejected, rejected, rejected]);
    expect(JSON.stringify(results)).not.toContain('hunter2');
  });

  test('does not say that nothing was changed if no response to COMMIT arrives', async () => {
    const proxy = await forTest(startTcpProxy(env.DATABASE_URL));
    for (const when of ['before', 'after'] as const) {
      const broken = proxy.breakAt((statement) => statement === 'commit', { when });
      const args = ['organization', 'create', '--name', `Cut ${when}`, '--json'];
      const { exitCode, stdout, stderr } = await callOperator({ ...env, DATABASE_URL: proxy.url }, ...args);
      await broken;
      expect({ exitCode, stdout, error: JSON.parse(stderr).error }).toEqual({
        exitCode: 1,
        stdout: '',
        error: {
          code: 'UNCONFIRMED',
          message: expect.stringMatching(/^The database has not confirmed the change, which may have been made\. Look/),
        },
      });
    }
    const { stdout } = await callOperator(env, 'organization', 'list', '--name', 'Cut ', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Cut after' }]);
  });

  test('an option is not the value of the one before it', async () => {
    const result = await callOperator(env, 'organization', 'create', '--name', '--json');
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(JSON.parse(result.stderr).error.message).toBe('--name has no value before --json');
  });

  test('reads DATABASE_URL from a file', async () => {
    const { path: home } = await forTest(temporaryFolder('home'));
    const path = join(home, 'url');
    await writeFile(path, `${env['DATABASE_URL']}\n`);
    expect(await callOperator({ DATABASE_URL_FILE: path }, 'delivery', 'list', '--json')).toMatchObject({
      stdout: '[]\n',
    });
  });

  test('exits 1 with a message when the database is unavailable', async () => {
    const unavailable = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const result = await callOperator(unavailable, 'delivery', 'list');
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: No PostgreSQL server accepts connections at 127\.0\.0\.1:1\. /),
    });
  });

  test('prints a slow statement to standard error, without its values', async () => {
    const superuser = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
    const run = (text: string) => superuser.query({ name: '', text }, []);
    await run(
      `create function sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return new; end $$`,
    );
    await run('create trigger sleep before insert on organization for each row execute function sleep()');
    const slowEnv = { ...env, SLOW_STATEMENT_MS: '200' };
    const { exitCode, stderr } = await callOperator(slowEnv, 'organization', 'create', '--name', 'Harbour');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^slow statement: insert-organization, \d{3,} ms, 1 rows$/m);
    expect(stderr).not.toContain('Harbour');
    const { stderr: json } = await callOperator(slowEnv, 'organization', 'create', '--name', 'Harbour', '--json');
    // On a busy machine, others are slow too.
    const warnings = json.trimEnd().split('\n');
    for (const line of warnings)
      expect(JSON.parse(line)).toEqual({ warning: { message: expect.stringMatching(/^slow statement: /) } });
    expect(warnings.join()).toContain('slow statement: insert-organization, ');
    await run('drop trigger sleep on organization');
    await superuser.close();
  });
});

describe('the command line', () => {
  test.each([
    ['an unknown noun', ['delivry', 'list']],
    ['an unknown verb', ['delivery', 'lst']],
    ['a missing option', ['credential', 'list']],
    ['an unknown option', ['organization', 'create', '--name', 'x', '--colour', 'red']],
    ['a repeated option', ['organization', 'create', '--name', 'x', '--name', 'y']],
    ['a missing argument', ['delivery', 'retry']],
    ['an extra argument', ['delivery', 'retry', 'gid://service/WebhookDelivery/1', 'gid://service/WebhookDelivery/2']],
    ['an invalid choice', ['credential', 'list', '--interface', 'bank', '--account', 'x']],
    ['a limit that is not a number', ['delivery', 'list', '--limit', 'many']],
    ['a cell that is not a number', ['database', 'migrate', '--cell', '1e3']],
    ['an expiry that is not a date', ['credential', 'expire', 'key', '--at', 'tomorrow']],
    ['an overlap without a unit', ['credential', 'rotate', 'key', '--overlap', '60']],
    ['a cell that is too large', ['database', 'migrate', '--cell', '1024']],
    ['a check with an argument', ['database', 'check', 'everything']],
  ])('exits 2 and names the help on standard error for %s', async (_name, commandArguments) => {
    const result = await callOperator(env, ...commandArguments);
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    const [noun, verb] = commandArguments;
    const command = noun === 'delivry' ? [] : verb === 'lst' ? [noun] : [noun, verb];
    expect(result.stderr).toMatch(/^error: .*\n(?:\(Did you mean .*\)\n)?See: .*\n$/);
    expect(result.stderr).toContain(`See: ${['deedwire-operator', ...command].join(' ')} --help\n`);
  });

  test.each([[[]], [['delivery']]])(
    'exits 2 and prints the help to standard error without a verb: %j',
    async (words) => {
      const result = await callOperator(env, ...words);
      expect(result).toMatchObject({ exitCode: 2, stdout: '' });
      expect(result.stderr).toMatch(/^Usage: deedwire-operator/);
    },
  );

  test('the help marks required options', async () => {
    const { stdout, ...rest } = await callOperator(env, 'customer', 'create', '--help');
    expect(rest).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(
      /--organization <gid> +\(required\) the organization\n +--name <name> +\(required\) the name/,
    );
    expect((await callOperator(env, 'delivery', 'list', '--help')).stdout).not.toContain('(required)');
  });

  test('the help of every verb fits 80 columns', async () => {
    const nouns = commandsOf(await helpOf());
    let verbs = 0;
    for (const noun of nouns) {
      for (const verb of commandsOf(await helpOf(noun))) {
        const lines = (await helpOf(noun, verb)).split('\n');
        expect(lines.filter((line) => line.length > 80)).toEqual([]);
        verbs += 1;
      }
    }
    expect(verbs).toBeGreaterThan(40);
  });
});

describe('the process', () => {
  const main = join(import.meta.dirname, '../../../../apps/operator-cli/src/main.ts');

  test('exits 1 with all configuration errors on standard error', async () => {
    const args = ['--conditions=deedwire-source', main, 'delivery', 'list'];
    // It inherits no setting from this process.
    const wrong = { DATABASE_URL: 'mysql://x', GID_NAMESPACE: 'No!', ...compileCache };
    await expect(promisify(execFile)(process.execPath, args, { env: wrong })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/DATABASE_URL must[\s\S]*GID_NAMESPACE must/),
    });
  });

  test('ends quietly when its reader has gone', async () => {
    const command = `("${process.execPath}" --conditions=deedwire-source "${main}" --help; echo "exit code $?" >&2) | true`;
    const { stderr } = await promisify(execFile)('sh', ['-c', command]);
    expect(stderr).toBe('exit code 141\n');
  });
});
