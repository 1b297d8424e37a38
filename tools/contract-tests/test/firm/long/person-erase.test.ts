import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { RefusedError } from '@deedwire/actions';
import { callOperatorWith, startTestSystem } from '@deedwire/dev-environment/test/firm/harness';
import {
  addTeamMember,
  removeTeamMember,
  type TeamMemberDetails,
  updateLender,
  updateTeamMember,
} from '@deedwire/firm/lender';
import type { ReferralDetails } from '@deedwire/firm/partner';
import { missing, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { dump } from '../../support/dump.ts';
import { accepted, findIn, numberOf } from '../../support/erasing.ts';
import { skipPauses } from '../../support/skip-pauses.ts';
import { subscribe } from '../../support/subscribe.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// What the law firm registers of persons. `full/person-erase*.test.ts` have what the platform does with it.

skipPauses();

const person = { firstName: 'Ördög-Plånted', lastName: 'Žluťoučký', email: 'Ördög.Žluťoučký@Plånted.example' };
const client = { clientName: 'Ördög-Plånted', clientEmail: person.email, externalReference: 'CRM-Plånted', note: '?' };
const planted = [...Object.values(person), client.externalReference];

/** What replaces each detail that identifies: text that is unique, an address that is unique, or null. */
const replacements = {
  Referral: { clientName: 'text', clientEmail: null, externalReference: null, note: null, declineReason: null },
  TeamMember: { firstName: 'text', lastName: 'text', email: 'address' },
} as const satisfies {
  Referral: Record<keyof ReferralDetails | 'declineReason', 'text' | null>;
  TeamMember: Record<keyof TeamMemberDetails, 'address' | 'text'>;
};

const t = await forFile(startTestSystem());
const { lender, partner } = t.accounts;
const receiver = await forFile(startReceiver());
const env = {
  DATABASE_URL: await t.database.urlFor('operator'),
  DATABASE_DIRECT_URL: t.database.databaseUrl,
  OPERATOR_NAME: 'ada',
};
const lenderId = lender.id;
const callbackUrl = receiver.url;

async function erase(...options: string[]) {
  const at = options.indexOf('--email') + 1;
  const given = at === 0 ? options : options.with(at, '-');
  const result = await callOperatorWith({ env, input: Buffer.from(options[at] ?? '') }, 'person', 'erase', ...given);
  return { ...result, stderr: result.stderr.replaceAll(/^(?:Read|Vacuuming|Waiting) .*\n/gm, '') };
}

const createReferral =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';

async function refer(idempotencyKey: string, details: object = client) {
  const { body } = await postGraphql<{ createReferral: { referral: { id: string }; userErrors: object[] } }>(
    t.urls.partner,
    partner.credential,
    { query: createReferral, variables: { input: { ...details, idempotencyKey } } },
  );
  return body.data?.createReferral ?? missing();
}

const plant = async () => ({
  memberId: (await addTeamMember(t.operator, { lenderId, ...person })).id,
  referralId: (await refer(crypto.randomUUID())).referral.id,
});

test('each detail of a team member and of a referral is replaced, and every event about them is erased', async () => {
  const types = ['team_member.added', 'team_member.updated', 'team_member.removed'];
  await subscribe(t.lender, { callbackUrl, eventTypes: types.map((type) => ({ type })) });
  await subscribe(t.partner, { callbackUrl, eventTypes: [{ type: 'referral.created' }] });
  const { memberId, referralId } = await plant();
  const { id: removedId } = await addTeamMember(t.operator, { lenderId, ...person, email: 'removed@lender.example' });
  await updateTeamMember(t.operator, { teamMemberId: removedId, firstName: 'Plånted' });
  await removeTeamMember(t.operator, { teamMemberId: removedId });
  await receiver.waitFor(5);
  expect(findIn(await dump(t, 'pg_stats'), planted)).not.toEqual([]);

  for (const id of [memberId, referralId, removedId])
    expect(await erase('--record', id, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump(t, 'pg_stats'), planted)).toEqual([]);
  for (const [table, id, details] of [
    ['team_member', memberId, replacements.TeamMember],
    ['referral', referralId, replacements.Referral],
  ] as const) {
    const [row] = await t.sql(`select * from ${table} where id = $1`, [numberOf(id)]);
    const placeholder = `erased-${numberOf(id)}`;
    const values = { text: placeholder, address: `${placeholder}@erased.invalid` };
    for (const [detail, kind] of Object.entries<'address' | 'text' | null>(details))
      expect(row?.[detail.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]).toBe(kind && values[kind]);
  }
});

test('a placeholder that another member has is named, and nothing is changed', async () => {
  const { memberId } = await plant();
  const email = `erased-${numberOf(memberId)}@erased.invalid`;
  const other = await addTeamMember(t.operator, { lenderId, firstName: 'A', lastName: 'B', email });
  const refused = await erase('--record', memberId, '--yes');
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`has ${email}`) });
  expect(await t.sql('select email from team_member where id = $1', [numberOf(memberId)])).toEqual([
    { email: person.email },
  ]);
  await updateTeamMember(t.operator, { teamMemberId: other.id, email: 'b@lender.example' });
  expect(await erase('--record', memberId, '--yes')).toMatchObject(accepted);
});

test('an idempotency key that has few letters of a person by chance creates no second referral', async () => {
  const clientEmail = 'e@f';
  const keys = [
    { clientName: 'Art', key: 'partner-4711', stays: true },
    { clientName: 'Li Na', key: 'airlina', stays: true },
    { clientName: 'Grace', key: 'referral', stays: true },
    { clientName: 'Art', key: 'of ART, 1', stays: false },
    { clientName: 'Li Na', key: 'lina.1', stays: false },
    { clientName: 'Ann O’Dea', key: '1-annodea', stays: false },
  ];
  for (const { clientName, key } of keys) await refer(key, { clientName, clientEmail });
  expect(await erase('--email', clientEmail, '--yes')).toMatchObject(accepted);
  for (const { clientName, key, stays } of keys) {
    const { userErrors } = await refer(key, { clientName, clientEmail });
    expect({ key, userErrors }).toEqual({ key, userErrors: stays ? [{ code: 'IDEMPOTENCY_KEY_REUSED' }] : [] });
  }
});

test('a record of another kind with this number is not listed, and a number alone names a record of either kind', async () => {
  const { memberId, referralId } = await plant();
  const other = memberId.replace('TeamMember', 'Referral');
  expect(await erase('--record', other, '--dry-run')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: ${other} does not exist, and no event of it is kept.\n`,
  });
  expect(await erase('--record', 'Matter/4711', '--yes')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('This is a Matter; pass a TeamMember or a Referral.'),
  });
  for (const id of [memberId, referralId])
    expect(await erase('--record', numberOf(id), '--yes')).toMatchObject({
      ...accepted,
      stdout: expect.stringContaining(id),
    });
});

test.each(['\0', '\ud800'])('what operators pass with %j is refused before it is stored', async (bad) => {
  const names = { firstName: bad, lastName: 'Hopper', email: 'grace@lender.example' };
  await expect(addTeamMember(t.operator, { lenderId, ...names })).rejects.toThrow(RefusedError);
  await expect(updateLender(t.operator, { lenderId, name: bad })).rejects.toThrow(RefusedError);
});

test('the command line finishes if nothing reads its output', async () => {
  const { memberId } = await plant();
  const start = ['--conditions=deedwire-source', 'apps/operator-cli/src/start.ts'];
  const command = spawn(process.execPath, [...start, 'person', 'erase', '--record', memberId, '--yes'], {
    cwd: workspaceRoot,
    env: { ...process.env, ...env, NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  command.stdout.destroy();
  command.stderr.destroy();
  expect(await once(command, 'exit')).toEqual([141, null]);
  expect(await t.sql('select from person_erasure')).toEqual([]);
  expect((await erase('--record', memberId, '--dry-run')).stdout).toBe('Nothing is kept\n');
});
