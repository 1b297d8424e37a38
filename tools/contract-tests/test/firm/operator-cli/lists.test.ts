import {
  callOperator,
  callOperatorWith,
  createHarness,
  type OperatorResult,
} from '@deedwire/dev-environment/test/firm/harness';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';

const harness = await forFile(createHarness());
// The login is only in the group role `operator`, as in production.
const env = { DATABASE_URL: await harness.database.urlFor('operator') };

const operate = (...commandArguments: string[]): Promise<OperatorResult> => callOperator(env, ...commandArguments);

async function listed(...commandArguments: string[]): Promise<Record<string, unknown>[]> {
  const result = await operate(...commandArguments, '--json');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout);
}

test('members of a lender', async () => {
  const organization = JSON.parse((await operate('organization', 'create', '--name', 'Harbour', '--json')).stdout);
  const inside = ['--organization', String(organization['id'])];
  const lender = JSON.parse((await operate('lender', 'create', ...inside, '--name', 'Northwind', '--json')).stdout);
  const of = ['--lender', String(lender['id'])];
  expect(await operate('member', 'list', ...of)).toEqual({
    exitCode: 0,
    stdout: 'The lender has no team members. Add one: deedwire-operator member add --help\n',
    stderr: '',
  });
  for (const name of ['Ada', 'Grace'])
    await operate('member', 'add', ...of, '--first-name', name, '--last-name', 'X', '--email', `${name}@n.example`);
  const members = await listed('member', 'list', ...of);
  expect(members).toMatchObject([{ firstName: 'Ada' }, { firstName: 'Grace', email: 'Grace@n.example' }]);
  expect(await listed('member', 'list', ...of, '--after', String(members[0]?.['id']))).toEqual(members.slice(1));
});

async function inTerminal(columns: number, ...commandArguments: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await callOperatorWith({ env, columns }, ...commandArguments);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('in a terminal', () => {
  const hostile = 'Ann \u202E4202-01-52\u2066\u200B\u2028\u009B2Jx';

  beforeAll(async () => {
    const partner = ['--partner', harness.accounts.partner.id];
    await operate('referral', 'create', ...partner, '--client-name', hostile, '--external-reference', hostile);
    await operate(
      'member',
      'add',
      '--lender',
      harness.accounts.lender.id,
      '--first-name',
      hostile,
      '--last-name',
      'X',
      '--email',
      'x@n.example',
    );
  });

  test('every list fits 80 columns, with short ids and times', async () => {
    for (const list of [
      ['member', 'list', '--lender', harness.accounts.lender.id],
      ['referral', 'list', '--partner', harness.accounts.partner.id],
    ]) {
      const lines = (await inTerminal(80, ...list)).split('\n');
      const wrong = lines.filter((line) => line.length > 80 || /gid:|\dT\d\d:/.test(line));
      expect({ list, wrong }).toEqual({ list, wrong: [] });
    }
  });

  test('nothing can rewrite it or reverse a text, including through a pipe', async () => {
    const partner = ['--partner', harness.accounts.partner.id];
    const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Default_Ignorable_Code_Point}]/u;
    for (const list of [
      ['referral', 'list', ...partner],
      ['member', 'list', '--lender', harness.accounts.lender.id],
    ]) {
      const outputs = [
        await inTerminal(100, ...list),
        ...(await Promise.all([operate(...list), operate(...list, '--json')])).map(({ stdout }) => stdout),
      ];
      for (const output of outputs) {
        expect(output).toContain(String.raw`Ann \u202e4202-01-52\u2066`);
        expect(output.replaceAll('\n', '')).not.toMatch(invisible);
      }
    }
    expect(await listed('referral', 'list', ...partner)).toMatchObject([{ clientName: hostile }]);
  });
});

/** The commands that take an identifier of these types: as their last option, or after their options. */
const commandsOf = {
  'a Lender': 'lender update --name x, member add --lender, member list --lender',
  'a TeamMember': 'member list --after, member update, member remove',
  'a Partner': 'referral create --partner, referral list --partner',
  'a Referral': 'referral list --after, referral convert, referral decline',
};

test.each(Object.entries(commandsOf).flatMap(([types, list]) => list.split(/,\s+/).map((command) => [command, types])))(
  'an identifier of another type is named by %s',
  async (command = '', types = '') => {
    const { exitCode, stderr } = await operate(...command.split(' '), 'gid://service/Matter/1');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`This is a Matter; pass ${types}.\n`);
  },
);
