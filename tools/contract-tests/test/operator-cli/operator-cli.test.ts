import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createMigratedDatabase, callOperator } from '@deedwire/dev-environment/firm-harness';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { createStore } from '@deedwire/store';
import { compileCache, startTcpProxy } from '@deedwire/testing';
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

async function createAccount(noun: 'lender' | 'partner'): Promise<string> {
  const organization = await operate('organization', 'create', '--name', 'Harbour');
  const account = await operate(noun, 'create', '--organization', String(organization['id']), '--name', 'Keystone');
  return String(account['id']);
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
  test('creates an organization and a lender, and adds, updates and removes a member', async () => {
    const organization = await operate('organization', 'create', '--name', 'Harbour');
    expect(organization).toEqual({
      id: expect.stringMatching(/^gid:\/\/service\/Organization\/\d+$/),
      name: 'Harbour',
    });

    const of = ['--organization', String(organization['id'])];
    const lender = await operate('lender', 'create', ...of, '--name', 'Northwind');
    const lenderId = String(lender['id']);
    expect(await operate('lender', 'update', lenderId, '--name', 'Northwind BS')).toEqual({
      id: lenderId,
      name: 'Northwind BS',
    });

    const details = ['--first-name', 'Ada', '--last-name', 'Fairbank', '--email', 'ada@northwind.example'];
    const member = await operate('member', 'add', '--lender', lenderId, ...details);
    const memberId = String(member['id']);
    expect(await operate('member', 'update', memberId, '--last-name', 'Fairbanks')).toEqual({
      ...member,
      lastName: 'Fairbanks',
    });

    // An update that changes nothing succeeds, and writes no event and no audit entry.
    const superuser = await forTest(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
    const text = 'select (select count(*) from webhook_event) as events, count(*) as entries from audit_entry';
    const written = await superuser.query({ name: '', text }, []);
    await operate('lender', 'update', lenderId, '--name', 'Northwind BS');
    await operate('member', 'update', memberId, '--last-name', 'Fairbanks');
    expect(await superuser.query({ name: '', text }, [])).toEqual(written);

    expect(await operate('member', 'remove', memberId)).toMatchObject({ id: memberId });

    const again = await callOperator(env, 'member', 'remove', memberId);
    expect(again).toEqual({ exitCode: 1, stdout: '', stderr: `error: The team member ${memberId} does not exist.\n` });
  });

  test('pins a new client to the current or the given version, and changes the pin', async () => {
    const account = ['--interface', 'lender', '--account', await createAccount('lender')];
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

    const versions = 'The lender interface has no version 1999-01-01. It has: 2026-11-01, 2027-02-01.';
    for (const rejected of [
      await callOperator(env, 'client', 'pin', String(clientId), '--schema-version', '1999-01-01'),
      await callOperator(env, 'credential', 'issue', ...account, '--schema-version', '1999-01-01'),
    ]) {
      expect(rejected).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${versions}\n` });
    }
    const another = ['credential', 'issue', ...account, '--client', String(clientId), '--schema-version', '2026-11-01'];
    expect((await callOperator(env, ...another)).stderr).toContain('is pinned already');
    const unknown = await callOperator(env, 'client', 'pin', 'lender_nobody', '--schema-version', '2026-11-01');
    expect(unknown).toMatchObject({ exitCode: 1, stderr: 'error: The client lender_nobody does not exist.\n' });
  });

  test('sets the limit of a client, and rejects numbers that are no limits', async () => {
    const account = ['--interface', 'lender', '--account', await createAccount('lender')];
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
      ['5000', '500', 1, 'error: The client lender_nobody does not exist.\n', 'lender_nobody'],
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

  test('converts a referral once, declines another and lists both', async () => {
    const partner = ['--partner', await createAccount('partner')];
    const { id: convertible } = await operate('referral', 'create', ...partner, '--client-name', 'Client 1');
    const details = ['--client-name', 'Client 2', '--note', 'n'];
    const { id: declinable } = await operate('referral', 'create', ...partner, ...details);

    const converted = await operate('referral', 'convert', String(convertible));
    expect(Object.keys(converted)).toEqual(['referralId', 'matterId']);
    expect(converted['referralId']).toBe(convertible);
    const again = await callOperator(env, 'referral', 'convert', String(convertible));
    expect(again).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: The referral ${String(convertible)} is already CONVERTED.\n`,
    });

    const declined = await callOperator(env, 'referral', 'decline', String(declinable), '--reason', 'Out of area');
    expect(declined).toEqual({ exitCode: 0, stdout: `Declined ${String(declinable)}\n`, stderr: '' });

    const listed = JSON.parse((await callOperator(env, 'referral', 'list', ...partner, '--json')).stdout);
    expect(listed.map((referral: { status: string }) => referral.status)).toEqual(['DECLINED', 'CONVERTED']);
    const newest = await callOperator(env, 'referral', 'list', ...partner, '--status', 'CONVERTED', '--limit', '1');
    expect(newest.stdout).toContain(String(converted['matterId']));
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
      stderr: expect.stringMatching(/^error: The database is not available/),
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

  test('refuses other commands until the migrations are applied, and applies them once', async () => {
    const { databaseUrl } = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
    const ofEmpty = { DATABASE_URL: databaseUrl };
    expect(await callOperator(ofEmpty, 'organization', 'create', '--name', 'Harbour')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: The database lacks migrations: 0001-\S+, .*; run: deedwire-operator database migrate\n$/,
      ),
    });
    const first = await callOperator(ofEmpty, 'database', 'migrate', '--json');
    expect(JSON.parse(first.stdout).applied.length).toBeGreaterThan(0);
    expect((await callOperator(ofEmpty, 'database', 'migrate')).stdout).toBe('Nothing to apply\n');
  });

  test('migrate gives a new database its cell, and rejects another later', async () => {
    const { databaseUrl } = await forTest(createTestDatabase({ template: 'empty', prepare: async () => {} }));
    const migrate = (cell: string) =>
      callOperator({ DATABASE_URL: databaseUrl }, 'database', 'migrate', '--cell', cell);
    expect(await migrate('1023')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await migrate('1023')).toMatchObject({ exitCode: 0, stdout: 'Nothing to apply\n' });
    expect(await migrate('0')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: The database has cell 1023, not 0\./),
    });
  });
});

describe('the command line', () => {
  test.each([
    ['an unknown noun', ['referal', 'list']],
    ['an unknown verb', ['referral', 'lst']],
    ['a missing option', ['referral', 'list']],
    ['an unknown option', ['organization', 'create', '--name', 'x', '--colour', 'red']],
    ['a repeated option', ['organization', 'create', '--name', 'x', '--name', 'y']],
    ['a missing argument', ['referral', 'convert']],
    ['an extra argument', ['referral', 'convert', 'gid://service/Referral/1', 'gid://service/Referral/2']],
    ['an update without options', ['member', 'update', 'gid://service/TeamMember/1']],
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
    const command = noun === 'referal' ? [] : verb === 'lst' ? [noun] : [noun, verb];
    expect(result.stderr).toMatch(/^error: .*\n(?:\(Did you mean .*\)\n)?See: .*\n$/);
    expect(result.stderr).toContain(`See: ${['deedwire-operator', ...command].join(' ')} --help\n`);
  });

  test.each([[[]], [['referral']]])(
    'exits 2 and prints the help to standard error without a verb: %j',
    async (words) => {
      const result = await callOperator(env, ...words);
      expect(result).toMatchObject({ exitCode: 2, stdout: '' });
      expect(result.stderr).toMatch(/^Usage: deedwire-operator/);
    },
  );

  test('the help marks required options', async () => {
    const { stdout, ...rest } = await callOperator(env, 'partner', 'create', '--help');
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
