import {
  events,
  eventTypes,
  expectRefused,
  findSharedAddresses,
  refusals,
  withoutOutbox,
} from '@deedwire/actions/test-support';
import { expect, test } from 'vitest';
import {
  addTeamMember,
  listTeamMembers,
  removeTeamMember,
  updateLender,
  updateTeamMember,
} from '../src/lender/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const members = () => listTeamMembers(world.lenderApi, world.lender);

const member = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };
const add = (details: Partial<typeof member> = {}, lenderId = world.lender.gid) =>
  addTeamMember(world.operator, { ...member, ...details, lenderId });

test('appends an event with the lender when a team member is added, updated or removed', async () => {
  const { id } = await add();
  expect(await members()).toEqual([{ id, ...member }]);
  await updateTeamMember(world.operator, { teamMemberId: id, lastName: 'King' });
  const king = { id, ...member, lastName: 'King' };
  expect(await members()).toEqual([king]);
  expect(await removeTeamMember(world.operator, { teamMemberId: id })).toEqual(king);
  expect(await members()).toEqual([]);
  const lender = { id: world.lender.gid, name: 'Lender' };
  expect(await events(world)).toEqual([
    { event_type: 'team_member.added', snapshot: { lender, teamMember: { id, ...member } } },
    { event_type: 'team_member.updated', snapshot: { lender, teamMember: king, changed: ['teamMember.lastName'] } },
    { event_type: 'team_member.removed', snapshot: { lender, teamMember: king } },
  ]);
  await expectRefused(removeTeamMember(world.operator, { teamMemberId: id }), 'NOT_FOUND');
  await expectRefused(updateTeamMember(world.operator, { teamMemberId: id }), 'NOT_FOUND');
});

test('rejects an address that another team member of the lender has, ignoring case', async () => {
  await add();
  await expectRefused(
    add({ email: 'ADA@example.com' }),
    'CONFLICT',
    'Another team member of Lender has the address ADA@example.com.',
  );
  await add({}, world.otherLender.gid);
  const { id } = await add({ email: 'grace@example.com' });
  await expectRefused(updateTeamMember(world.operator, { teamMemberId: id, email: 'Ada@Example.com' }), 'CONFLICT');
  await updateTeamMember(world.operator, { teamMemberId: id, email: 'GRACE@example.com' });
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => add({ email: 'new@example.com' })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(refusals(results)).toEqual(Array(4).fill('CONFLICT'));
});

// What `lower()` takes for the same depends on the locale of the database, which is C here and can be Turkish.
test.each([
  ['ÉLODIE@example.com', 'élodie@example.com'],
  ['INFO@example.com', 'info@example.com'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
])('rejects %s beside %s, whatever the locale of the database is', async (first, second) => {
  await add({ email: first });
  await expectRefused(add({ email: second }), 'CONFLICT', `Another team member of Lender has the address ${second}.`);
  await add({ email: 'ınfo@example.com' });
  expect(await members()).toHaveLength(2);
});

test('keeps two spellings of an address that an earlier release took for different ones, and names them', async () => {
  const emails = ['ÉLODIE@example.com', 'élodie@example.com'];
  for (const email of emails)
    await world.sql(`insert into team_member (account_id, first_name, last_name, email) values ($1, 'É', 'L', $2)`, [
      world.lender.accountId,
      email,
    ]);
  await add();
  await add({ email: 'élodie@example.com' }, world.otherLender.gid);
  const [first, second] = await members();
  expect(await findSharedAddresses(world.operator)).toEqual([
    expect.objectContaining({ accountId: world.lender.gid, recordIds: [first?.id, second?.id] }),
  ]);
  const teamMemberId = first?.id ?? '';
  expect(await updateTeamMember(world.operator, { teamMemberId, lastName: 'K' })).toMatchObject({ email: emails[0] });
  await expectRefused(updateTeamMember(world.operator, { teamMemberId, email: 'élodie@example.com' }), 'CONFLICT');
  await updateTeamMember(world.operator, { teamMemberId, email: 'other@example.com' });
  expect(await findSharedAddresses(world.operator)).toEqual([]);
});

test('limits a lender to 250 team members, including for concurrent requests', async () => {
  await world.sql(
    `insert into team_member (account_id, first_name, last_name, email)
     select $1, 'A', 'B', n || '@example.com' from generate_series(1, 245) n`,
    [world.lender.accountId],
  );
  const results = await Promise.allSettled(
    Array.from({ length: 9 }, (_, index) => add({ email: `new${index}@example.com` })),
  );
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(refusals(results)).toEqual(Array(4).fill('LIMIT_REACHED'));
  await expectRefused(add(), 'LIMIT_REACHED', 'The lender has 250 team members; at most 250 are allowed.');
  expect(await members()).toHaveLength(250);
  expect(await eventTypes(world)).toHaveLength(5);
});

test('rejects invalid details with every problem', async () => {
  await expectRefused(
    add({ firstName: '', lastName: 'x'.repeat(201), email: 'nope' }),
    'INVALID',
    'The first name must be 1 to 200 characters and not blank. It has 0 characters. The last name must be 1 to 200 characters and not blank. It has 201 characters. The email must be a valid address of at most 254 characters. It has 4 characters.',
  );
  await expectRefused(add({}, world.partner.gid), 'NOT_FOUND');
  await expectRefused(add({}, world.partner.gid.replace('Partner', 'Lender')), 'NOT_FOUND');
  expect(await world.sql('select from team_member')).toEqual([]);
});

test('changes nothing when the event cannot be appended', async () => {
  const { id } = await add();
  const before = await members();
  await withoutOutbox(world, async () => {
    await expect(add({ email: 'new@example.com' })).rejects.toThrow('no_more');
    await expect(updateTeamMember(world.operator, { teamMemberId: id, lastName: 'King' })).rejects.toThrow('no_more');
    await expect(removeTeamMember(world.operator, { teamMemberId: id })).rejects.toThrow('no_more');
    await expect(updateLender(world.operator, { lenderId: world.lender.gid, name: 'New' })).rejects.toThrow('no_more');
  });
  expect(await members()).toEqual(before);
  expect(await world.sql('select name from account where id = $1', [world.lender.accountId])).toEqual([
    { name: 'Lender' },
  ]);
});
