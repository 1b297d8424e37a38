import { RefusedError } from '@deedwire/actions';
import { callOperator, createTestAccounts } from '@deedwire/dev-environment/firm-harness';
import { addTeamMember, removeTeamMember, updateLender, updateTeamMember } from '@deedwire/firm/lender';
import { connect, eventually, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { accepted, startErasing } from '../support/erasing.ts';

// What a login of an interface stores in events neither erases another person nor keeps a person from being erased.

const { t, lender, partner, env, good, broken, subscribe, erase, erasable, refer } = await startErasing();
const logins = {
  lender: await forFile(connect(await t.database.urlFor('lender_api'))),
  partner: await forFile(connect(await t.database.urlFor('partner_api'))),
};
const others = await createTestAccounts(t.operator);

/** Stores an event as a login of an interface can. Returns its id. */
async function plant(
  account: { accountId: string },
  type: string,
  record: string | null,
  snapshot: object | string,
  by: 'lender' | 'partner' = type.startsWith('team_member') ? 'lender' : 'partner',
): Promise<string> {
  const [row = missing()] = await logins[by].run(
    `insert into webhook_event (account_id, interface, event_type, record_id, snapshot) values ($1, $2, $3, $4, $5) returning id::text`,
    [
      account.accountId,
      by,
      type,
      record?.split('/').at(-1) ?? null,
      typeof snapshot === 'string' ? snapshot : JSON.stringify(snapshot),
    ],
  );
  return String(row['id']);
}

/** Stores an event as a build of an earlier release could, with a snapshot that PostgreSQL cannot read. */
async function plantUnreadable(account: { accountId: string }, type: string, record: string | null, snapshot: string) {
  const [{ definition } = missing()] = await t.sql(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conname = 'webhook_event_is_jsonb' and conrelid = 'webhook_event'::regclass`,
  );
  await t.sql('alter table webhook_event drop constraint webhook_event_is_jsonb');
  const id = await plant(account, type, record, snapshot);
  await t.sql(`alter table webhook_event add constraint webhook_event_is_jsonb ${String(definition)}`);
  return id;
}

const addressOf = (email: string) => ({ teamMember: { email } });
const eventGid = (id: string): string => `gid://service/WebhookEvent/${id}`;
const keptOf = async (...options: string[]) => JSON.parse((await erase(...options, '--json')).stdout);

async function referralOf(clientEmail: string): Promise<string> {
  return (await refer(`Key of ${clientEmail}`, { clientName: 'Grace Hopper', clientEmail })).referral.id;
}

const addMember = (email: string, { id: lenderId } = lender) =>
  addTeamMember(t.operator, { lenderId, firstName: 'Grace', lastName: 'Hopper', email });

test('planted events with the address of a person erase no other referral, and lose no delivery of it', async () => {
  const number = (await subscribe('partner', broken, ['referral.created'])).split('/').at(-1);
  const [own, bystander] = [await referralOf('own@client'), await referralOf('bystander@client')];
  await eventually(async () =>
    expect(await t.sql('select from webhook_pending_delivery where subscription_id = $1', [number])).toHaveLength(2),
  );
  for (const type of ['referral.created', 'referral.declined', 'referral.converted']) {
    await plant(partner, type, bystander, addressOf('own@client'));
    await plant(partner, type, null, { ...addressOf('own@client'), referral: { id: bystander } });
    await plant(others.partner, type, own, addressOf('own@client'));
  }
  expect(await keptOf('--email', 'own@client', '--yes')).toMatchObject({
    records: [{ recordId: own, accountId: partner.id }],
    namedByEvents: [],
    unreadable: [],
  });
  expect(await t.sql('select client_email from referral where id = $1', [bystander.split('/').at(-1)])).toEqual([
    { client_email: 'bystander@client' },
  ]);
  expect(
    await t.sql(
      `select record_id::text from webhook_pending_delivery p join webhook_delivery d on d.id = p.delivery_id
       where p.subscription_id = $1`,
      [number],
    ),
  ).toEqual([{ record_id: bystander.split('/').at(-1) }]);
});

test('a team member whom only an event gives the address is listed apart, and erased with --record only', async () => {
  const own = await addMember('own@member');
  const bystander = await addMember('bystander@member');
  await plant(lender, 'team_member.updated', bystander.id, addressOf('own@member'));
  await plant(others.lender, 'team_member.updated', bystander.id, addressOf('own@member'));
  const named = [{ recordId: bystander.id, accountId: lender.id }];
  expect(await keptOf('--email', 'own@member', '--dry-run')).toMatchObject({
    records: [{ recordId: own.id, accountId: lender.id }],
    namedByEvents: named,
  });
  const erased = await erase('--email', 'own@member', '--yes');
  expect(erased).toMatchObject(accepted);
  expect(erased.stdout).toMatch(/^named by an event only, kept +account\n.*\n.*erase it with --record\.\n\nrecord /);
  expect(erased.stdout).toContain('\nNothing else of it is left\n');
  const again = await keptOf('--email', 'own@member', '--yes');
  expect(again).toMatchObject({ records: [], tables: [], namedByEvents: named });
  expect(await t.sql('select email from team_member where id = $1', [bystander.id.split('/').at(-1)])).toEqual([
    { email: 'bystander@member' },
  ]);
  // The event of the other account stays.
  expect(await erase('--record', bystander.id, '--yes')).toMatchObject({
    ...accepted,
    stdout: expect.stringContaining('Nothing of it is left'),
  });
  expect(
    await t.sql(`select account_id::text from webhook_event where record_id = $1 and snapshot::text <> '{}'`, [
      bystander.id.split('/').at(-1),
    ]),
  ).toEqual([{ account_id: others.lender.accountId }]);
});

test('an earlier address of a team member is one that only an event gives', async () => {
  const { id } = await addMember('earlier@member');
  await updateTeamMember(t.operator, { teamMemberId: id, email: 'later@member' });
  const named = { records: [], namedByEvents: [{ recordId: id, accountId: lender.id }] };
  expect(await keptOf('--email', 'earlier@member', '--yes')).toMatchObject(named);
  expect(await keptOf('--email', 'earlier@member', '--account', others.lender.id, '--yes')).toMatchObject({
    namedByEvents: [],
  });
  expect(await keptOf('--email', 'later@member', '--yes')).toMatchObject({ records: named.namedByEvents });
});

test('an event of the other interface changes nothing', async () => {
  const { id } = await addMember('own@interface');
  await plant(others.partner, 'team_member.updated', id, addressOf('own@interface'), 'partner');
  await plant(others.partner, 'team_member.updated', null, { teamMember: { id, email: 'own@interface' } }, 'partner');
  expect(await keptOf('--email', 'own@interface', '--yes')).toMatchObject({
    records: [{ recordId: id, accountId: lender.id }],
    unreadable: [],
  });
  expect(await t.sql('select from person_erasure')).toEqual([]);
  expect(await erase('--record', id, '--account', partner.id, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: `error: ${id} is of the account ${lender.id}. Pass this one, or none.\n`,
  });
});

test('of a removed team member, all events have to agree', async () => {
  const [own, renamed, stolen] = [
    await addMember('own@removed'),
    await addMember('renamed@removed'),
    await addMember('stolen@removed'),
  ];
  await updateTeamMember(t.operator, { teamMemberId: renamed.id, email: 'own@removed.example' });
  for (const { id } of [own, renamed, stolen]) await removeTeamMember(t.operator, { teamMemberId: id });
  await plant(others.lender, 'team_member.added', stolen.id, addressOf('own@removed'));
  expect(await keptOf('--email', 'own@removed', '--yes')).toMatchObject({
    records: [{ recordId: own.id, accountId: lender.id }],
    namedByEvents: [{ recordId: stolen.id, accountId: others.lender.id }],
  });
  expect(await keptOf('--email', 'stolen@removed', '--dry-run')).toMatchObject({
    records: [],
    namedByEvents: [{ recordId: stolen.id, accountId: lender.id }],
  });
  expect(await keptOf('--email', 'renamed@removed', '--dry-run')).toMatchObject({
    records: [],
    namedByEvents: [{ recordId: renamed.id, accountId: lender.id }],
  });
  const refused = await erase('--record', stolen.id, '--yes');
  expect(refused).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: The row of ${stolen.id} is gone, and what is kept of it belongs to several accounts: ${lender.id}, ${others.lender.id}. Add --account.\n`,
  });
  expect(await erase('--record', stolen.id, '--account', lender.id, '--yes')).toMatchObject(accepted);
  expect(
    await t.sql(`select account_id::text from webhook_event where record_id = $1 and snapshot::text <> '{}'`, [
      stolen.id.split('/').at(-1),
    ]),
  ).toEqual([{ account_id: others.lender.accountId }]);
});

test('an erasure that an earlier release began for another account than that of the row does not begin', async () => {
  const { id } = await addMember('own@begun');
  await expect(
    t.sql(`select begin_person_erasure('TeamMember', $1, $2)`, [id.split('/').at(-1), others.lender.accountId]),
  ).rejects.toThrow('is of another account than');
  expect(await t.sql('select email from team_member where id = $1', [id.split('/').at(-1)])).toEqual([
    { email: 'own@begun' },
  ]);
});

test('events about team members that never existed erase nothing, and are counted', async () => {
  const { id } = await addMember('own@invented');
  const erasures = () => t.sql(`select subject from audit_entry where action = 'person.erase'`);
  const before = await erasures();
  await logins.lender.run(
    `insert into webhook_event (account_id, interface, event_type, record_id, snapshot)
     select $1, 'lender', 'team_member.added', $2::bigint - n, $3 from generate_series(1, 3000) n`,
    [lender.accountId, id.split('/').at(-1), JSON.stringify(addressOf('own@invented'))],
  );
  const { stdout } = await erase('--email', 'own@invented', '--dry-run');
  expect(stdout).toContain('and 2980 more, which --json prints\n');
  expect(stdout.match(/TeamMember/g)).toHaveLength(21);
  const { records, namedByEvents } = await keptOf('--email', 'own@invented', '--yes');
  expect(records).toEqual([{ recordId: id, accountId: lender.id }]);
  expect(namedByEvents).toHaveLength(3_000);
  expect(await erasures()).toHaveLength(before.length + 1);
  expect(await t.sql('select from person_erasure')).toEqual([]);
  await t.sql('delete from webhook_event where record_id between $1::bigint - 3000 and $1::bigint - 1', [
    id.split('/').at(-1),
  ]);
});

/** Stores an event about a record again as soon as it is erased, until there are `times` of them. */
async function writeAgain(record: string, times: number): Promise<void> {
  await t.sql(
    `create or replace function write_again() returns trigger language plpgsql set search_path = public as $$
     begin
       if (select count(*) from webhook_event where record_id = old.record_id) < tg_argv[0]::int then
         insert into webhook_event (account_id, interface, event_type, record_id, snapshot)
         values (old.account_id, old.interface, old.event_type, old.record_id, old.snapshot);
       end if;
       return null;
     end
     $$`,
  );
  await t.sql(
    `create or replace trigger write_again after update on webhook_event
     for each row when (new.record_id = ${record.split('/').at(-1)}) execute function write_again(${times})`,
  );
}

test('what an interface stores about a person meanwhile is erased too', async () => {
  const referral = await referralOf('own@meanwhile');
  await writeAgain(referral, 4);
  expect(await erase('--email', 'own@meanwhile', '--yes')).toMatchObject(accepted);
  await t.sql('drop trigger write_again on webhook_event');
  expect(await t.sql('select snapshot from webhook_event where record_id = $1', [referral.split('/').at(-1)])).toEqual(
    Array.from({ length: 4 }, () => ({ snapshot: {} })),
  );
});

test('an interface that stores events about a record all the time keeps only its erasure from ending', async () => {
  const [busy, { id: begun }, { id: own }] = [
    await referralOf('own@busy'),
    await addMember('begun@busy'),
    await addMember('own@busy'),
  ];
  await writeAgain(busy, 1_000);
  const event = String.raw`gid://service/WebhookEvent/\d+`;
  const kept = `What was written about ${busy} of ${partner.id} meanwhile is kept: webhook_event \\(1\\), among them the event ${event}\\. Run the command again with --record ${busy}\\.`;
  const ofBusy = `The erasure of ${busy} of ${partner.id}, which was interrupted, is not finished\\. ${kept}\n$`;
  expect(await erase('--record', busy, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(new RegExp(`^error: The erasure is not finished\\. ${kept}\n$`)),
  });
  await t.sql(`select begin_person_erasure('TeamMember', $1, $2)`, [begun.split('/').at(-1), lender.accountId]);
  expect(await erase('--email', 'own@busy', '--account', lender.id, '--yes')).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/\nNothing of it is left\n$/),
    stderr: expect.stringMatching(new RegExp(`^${ofBusy}`)),
  });
  expect(await t.sql('select record_id::text from person_erasure')).toEqual([{ record_id: busy.split('/').at(-1) }]);
  expect(await erase('--record', own, '--dry-run')).toMatchObject({
    stdout: expect.stringMatching(/\n\nNothing else is kept\n$/),
  });
  // Its address no longer finds the record.
  const again = await erase('--email', 'own@busy', '--yes');
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(new RegExp(`^error: ${ofBusy}`)) });
  expect(again.stdout).not.toContain('is left');
  await t.sql('drop trigger write_again on webhook_event');
  expect(await erase('--email', 'own@busy', '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from person_erasure')).toEqual([]);
});

const noReferral = 'it has no id of a Referral';
const noAddress = 'it has no address of at most 254 characters';
const noJsonb = 'its snapshot is no jsonb: ';
const memberWith = (email: string): string => `{"teamMember":{"id":"gid://service/TeamMember/1","email":${email}}}`;

const odd = [
  ['referral.created', `{"referral":{"id":"gid://service/Referral/${'9'.repeat(19)}"}}`, noReferral],
  ['referral.created', `{"referral":{"id":"gid://service/Referral/${'9'.repeat(23)}"}}`, noReferral],
  ['referral.created', '{"referral":{"id":"gid://service/TeamMember/1"}}', noReferral],
  ['referral.created', '{"referral":{"id":4711}}', noReferral],
  ['referral.created', '{"referral":"gid://service/Referral/1"}', noReferral],
  ['referral.declined', '[{"referral":null}]', noReferral],
  ['referral.declined', 'null', noReferral],
  ['referral.converted', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, noReferral],
  ['referral.converted', '{"referral":1e999999}', noJsonb],
  ['referral.created', String.raw`{"referral":{"id":"\ud800"}}`, noJsonb],
  ['team_member.added', String.raw`{"teamMember":{"email":"\u0000"}}`, noJsonb],
] as const;
const withoutAddress = ['{}', '4711', 'null', JSON.stringify(`${'é'.repeat(200_000)}@`)];

test('events that cannot be read are named, and stop nothing', async () => {
  const reasons = new Map<string, string>();
  for (const [type, snapshot, reason] of odd) {
    const account = type.startsWith('team_member') ? others.lender : others.partner;
    reasons.set(eventGid(await plantUnreadable(account, type, null, snapshot)), reason);
  }
  const byEmail = new Map(reasons);
  for (const email of withoutAddress)
    byEmail.set(eventGid(await plant(others.lender, 'team_member.added', null, memberWith(email))), noAddress);
  const later = await plant(others.lender, 'team_member.added', '9000000000000000000', addressOf('own@unreadable'));
  byEmail.set(eventGid(later), 'it is older than its record');
  const negative = await plant(others.lender, 'team_member.added', '-1', addressOf('own@unreadable'));
  byEmail.set(eventGid(negative), 'it has no id of a TeamMember');

  const [{ id: member }, referral] = [await addMember('own@unreadable'), await referralOf('own@unreadable')];
  for (const [options, named] of [
    [['--email', 'own@unreadable', '--account', lender.id], byEmail],
    [['--record', referral], reasons],
  ] as const) {
    const dry = await erase(...options, '--dry-run');
    expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/record .*\n.*\n\ntable /) });
    const { exitCode, stdout, stderr } = await erase(...options, '--yes', '--json');
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      records: [{}],
      unreadable: Array.from(named, ([eventId, reason]) => ({ eventId, reason: expect.stringContaining(reason) })),
    });
    for (const text of [dry.stderr, JSON.parse(stderr).warning.message])
      for (const eventId of named.keys()) expect(text).toContain(`  ${eventId}: `);
  }
  for (const id of [member, referral])
    expect(await erase('--record', id, '--dry-run')).toMatchObject({ stdout: 'Nothing is kept\n' });
  for (const id of byEmail.keys()) await t.sql('delete from webhook_event where id = $1', [id.split('/').at(-1)]);
});

test('an unreadable event of the record is erased with it', async () => {
  const { id } = await addMember('own@unreadable');
  const event = await plantUnreadable(lender, 'team_member.added', id, String.raw`{"teamMember":"\ud800"}`);
  expect(await erase('--email', 'own@unreadable', '--yes')).toMatchObject(accepted);
  expect(await t.sql('select snapshot from webhook_event where id = $1', [event])).toEqual([{ snapshot: {} }]);
});

test('the worker delivers what comes after an event that PostgreSQL cannot read', async () => {
  await subscribe('lender', good, ['team_member.added']);
  const whole = String.raw`{"teamMember":{"id":"gid://service/TeamMember/1","firstName":"\u0000","lastName":"\ud800","email":"a@b"}}`;
  for (const snapshot of [whole, String.raw`{"teamMember":"\ud800"}`, '{"teamMember":1e999999}']) {
    const event = await plantUnreadable(lender, 'team_member.added', null, snapshot);
    await t.sql(`insert into webhook_event_queue (account_id, interface, event_id) values ($1, 'lender', $2)`, [
      lender.accountId,
      event,
    ]);
  }
  await addMember('after@unreadable');
  await eventually(async () => {
    expect(good.deliveries.map(({ body }) => body.toString())).toEqual(
      expect.arrayContaining([expect.stringContaining('after@unreadable')]),
    );
    expect(await t.sql('select from webhook_event_queue where blocked_on is null')).toEqual([]);
  });
  await t.sql(`delete from webhook_event where record_id is null`);
});

test.each(['\0', '\ud800'])('what clients and operators pass with %j is refused before it is stored', async (bad) => {
  const before = await erasable();
  const mutation =
    'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }';
  const details = { clientName: 'Grace', clientEmail: 'grace@client.example' };
  const written = JSON.stringify(bad);
  const requests = [
    { query: mutation, variables: { input: { ...details, externalReference: bad } } },
    {
      query: `mutation { createReferral(input: { clientName: "Grace", clientEmail: "grace@client.example", externalReference: ${written} }) {
        referral { id } userErrors { code } } }`,
    },
  ];
  for (const request of requests) {
    const { status, body } = await postGraphql<object>(t.urls.partner, t.accounts.partner.credential, request);
    expect({ status, codes: body.errors?.map(({ extensions }) => extensions?.['code']) }).toEqual({
      status: 200,
      codes: [expect.stringMatching(/^(?:BAD_USER_INPUT|GRAPHQL_\w+_FAILED)$/)],
    });
  }
  const names = { firstName: bad, lastName: 'Hopper', email: 'grace@lender.example' };
  await expect(addTeamMember(t.operator, { lenderId: lender.id, ...names })).rejects.toThrow(RefusedError);
  await expect(updateLender(t.operator, { lenderId: lender.id, name: bad })).rejects.toThrow(RefusedError);
  expect(await erasable()).toEqual(before);
});

test('an address on the command line is erased, and a warning says who sees it', async () => {
  await addMember('own@flag');
  const { exitCode, stdout, stderr } = await callOperator(env, 'person', 'erase', '--email', 'own@flag', '--dry-run');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('team_member') });
  expect(stderr).toBe(
    'The list of processes and the history of the shell show this address. Pass --email - and pipe it.\n',
  );
});

test.each(['\\u0000', '\\ud800', '\\udc00\\ud800'])('no login stores a snapshot with %s', async (text) => {
  const before = await erasable();
  await expect(plant(lender, 'team_member.added', null, `{"teamMember":{"email":"${text}"}}`)).rejects.toThrow(
    /unsupported Unicode escape sequence|invalid input syntax for type json/,
  );
  await expect(plant(partner, 'referral.created', null, `{"referral":1e999999}`)).rejects.toThrow('overflows numeric');
  expect(await erasable()).toEqual(before);
});
