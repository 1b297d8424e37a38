import { createMigratedDatabase, callOperator } from '@deedwire/dev-environment/test/firm/harness';
import { createStore } from '@deedwire/store';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';

const database = await forFile(createMigratedDatabase());
// The login is only in the group role `operator`, as in production. On a busy machine any statement can be slow.
const env = { DATABASE_URL: await database.urlFor('operator'), SLOW_STATEMENT_MS: '0' };

async function operate(...commandArguments: string[]): Promise<Record<string, unknown>> {
  const result = await callOperator(env, ...commandArguments, '--json');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout);
}

async function createAccount(noun: 'partner'): Promise<string> {
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

  test.each([
    ['an unknown noun', ['referal', 'list']],
    ['an unknown verb', ['referral', 'lst']],
    ['an update without options', ['member', 'update', 'gid://service/TeamMember/1']],
  ])('exits 2 for %s', async (_name, commandArguments) => {
    expect(await callOperator(env, ...commandArguments)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: .*\n(?:\(Did you mean .*\)\n)?See: .*\n$/),
    });
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
