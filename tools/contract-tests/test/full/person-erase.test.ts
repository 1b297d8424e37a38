import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addTeamMember, removeTeamMember, updateTeamMember } from '@deedwire/actions';
import { callOperator, callOperatorWith, startTestSystem } from '@deedwire/dev-environment/harness';
import { placeholderOf, type ReferralDetails, type TeamMemberDetails, toRecordId } from '@deedwire/domain';
import { connect, eventually, missing, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { ReferDocument } from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { subscribe as subscribeTo } from '../support/subscribe.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

/** What the apps have logged. */
const lines: string[] = [];
const t = await forFile(startTestSystem({ env: { LOG_LEVEL: 'debug' }, onLine: (_, line) => lines.push(line) }));
const lender = t.accounts.lender;
const partner = t.accounts.partner;
const env = {
  DATABASE_URL: await t.database.urlFor('operator'),
  DATABASE_DIRECT_URL: t.database.databaseUrl,
  OPERATOR_NAME: 'ada',
};

/** Each is the only one of its kind, so that it is found in any spelling. */
const person = { firstName: 'Ördög-Plånted', lastName: 'Žluťoučký', email: 'Ördög.Žluťoučký@Plånted.example' };
const client = {
  clientName: 'Ördög-Plånted',
  clientEmail: person.email,
  externalReference: 'CRM-Plånted',
  note: 'Plånted?',
};
const planted = [person.firstName, person.lastName, person.email, 'CRM-Plånted', 'Plånted?'];

/** The details of a record that identify, and what replaces each: text that is unique, an address that is unique, or null. */
const identifyingDetails = {
  Referral: { clientName: 'text', clientEmail: null, externalReference: null, note: null, declineReason: null },
  TeamMember: { firstName: 'text', lastName: 'text', email: 'address' },
} as const satisfies {
  Referral: Record<keyof ReferralDetails | 'declineReason', 'text' | null>;
  TeamMember: Record<keyof TeamMemberDetails, 'address' | 'text'>;
};

/** How a text can be spelled where it is kept. */
const spellingsOf = (text: string): string[] => [
  text.toLowerCase(),
  text.normalize('NFD').toLowerCase(),
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .toLowerCase(),
  encodeURIComponent(text).toLowerCase(),
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').slice(0, -4).toLowerCase(),
];

/** The spellings of the person that a text has. */
function findIn(text: string): string[] {
  const lower = text.toLowerCase();
  return planted.flatMap(spellingsOf).filter((spelling) => lower.includes(spelling));
}

/** Every row of every table, as pg_dump writes them, and the samples of rows that the planner keeps. */
async function dump(): Promise<string> {
  const tables = await t.sql(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
  );
  const rows = await t.sql(
    [...tables, { name: 'pg_stats' }]
      .map(({ name }) => `select t::text as row from ${String(name)} t`)
      .join(' union all '),
  );
  return rows.map(({ row }) => `${String(row)}\n`).join('');
}

const good = await startReceiver();
/** Returns what it gets, as a proxy does that shows requests. */
const broken = await startReceiver({
  onDelivery: (response, { body }) =>
    response.writeHead(500, { 'X-Echo': encodeURIComponent(body.toString()) }).end(body),
});
afterAll(() => Promise.all([good.close(), broken.close()]));

interface Listed {
  id: string;
  status: string;
  payloadDeletion: string | null;
}

/** What the requests select. */
interface Data {
  createReferral: { referral: { id: string }; userErrors: object[] };
  createWebhookListener: { webhookListener: { id: string } };
  createWebhookSubscription: { webhookSubscription: { id: string } };
  lender: object;
  pauseWebhookSubscription: object;
  replayWebhookEvents: { webhookReplay: { id: string } };
  retryWebhookDelivery: { userErrors: object[] };
  webhookDeliveries: { nodes: Listed[] };
  webhookDelivery: object;
  webhookEvents: { edges: { sequence: string; node: { payload: string | null; payloadDeletion: string | null } }[] };
  webhookReplay: object;
}

async function ask(account: 'lender' | 'partner', query: string, variables: object = {}): Promise<Data> {
  const { body } = await postGraphql<Data>(t.urls[account], t.accounts[account].credential, {
    query,
    variables,
  });
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data ?? missing();
}

const memberTypes = ['team_member.added', 'team_member.updated', 'team_member.removed'];

async function subscribe(account: 'lender' | 'partner', { url }: Receiver, types: string[]): Promise<string> {
  await t.forgetHandshakes();
  const { createWebhookSubscription: created } = await ask(
    account,
    `mutation ($input: CreateWebhookSubscriptionInput!) {
       createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { message } }
     }`,
    { input: { callbackUrl: url, eventTypes: types.map((type) => ({ type })) } },
  );
  return created.webhookSubscription.id;
}

async function erase(...options: string[]) {
  const result = await callOperator(env, 'person', 'erase', ...options);
  // On a slow machine, it shows its progress after 10 s.
  return { ...result, stderr: result.stderr.replaceAll(/^(?:Read|Vacuuming|Waiting) .*\n/gm, '') };
}

/** What only the command changes. */
const erasable = () =>
  t.sql(
    `select t::text from team_member t union all select r::text from referral r union all select k::text from idempotency_key k
     union all select e::text from webhook_event e union all select p::text from webhook_payload p
     union all select a::text from audit_entry a union all select p::text from person_erasure p`,
  );

const listed = `query ($id: ID, $status: WebhookDeliveryStatus) {
  webhookDeliveries(first: 100, subscriptionId: $id, status: $status) { nodes { id status payloadDeletion } }
}`;
const list = async (account: 'lender' | 'partner', id: string, status?: string) =>
  (await ask(account, listed, { id, status })).webhookDeliveries.nodes;
const statusesOf = async (...of: Parameters<typeof list>) =>
  (await list(...of)).map(({ status: found, payloadDeletion }) => `${found} ${payloadDeletion}`);

const whole = `query ($id: ID!) { webhookDelivery(id: $id) { status payload preview(version: "2026-11-01")
  event { id } nextAttemptAt delay { message } attempts(first: 5) { number advice
    exchange { requestHeaders { value } responseHeaders { value } responseBody responseBodyBase64 } } } }`;

const events = `query ($id: ID!) { webhookEvents(subscriptionId: $id, first: 100) {
  edges { sequence node { id payload payloadDeletion } } lastSequence
} }`;

const retry = async (id: string) =>
  (
    await ask(
      'lender',
      `mutation ($input: RetryWebhookDeliveryInput!) { retryWebhookDelivery(input: $input) { userErrors { code } } }`,
      { input: { id } },
    )
  ).retryWebhookDelivery.userErrors;

const refer = async (idempotencyKey: string) =>
  (
    await ask(
      'partner',
      'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code } } }',
      { input: { ...client, idempotencyKey } },
    )
  ).createReferral;

async function plant() {
  const member = await addTeamMember(t.operator, { lenderId: lender.id, ...person });
  const { referral } = await refer(`Key of ${member.id}`);
  return { memberId: member.id, referralId: referral.id };
}

const accepted = { exitCode: 0, stderr: '' };

describe('an address of two accounts', () => {
  test('is erased for each, whatever it is in, and everything else stays provable', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'person-erase-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    let release: (() => void) | undefined;
    const hanging = await startReceiver({
      onDelivery: (response) => (release = () => response.writeHead(500).end(person.lastName)),
    });
    onTestFinished(() => hanging.close());
    const early = {
      good: await subscribe('lender', good, memberTypes),
      broken: await subscribe('lender', broken, memberTypes),
    };
    const { createWebhookListener: listener } = await ask(
      'lender',
      `mutation ($input: CreateWebhookListenerInput!) { createWebhookListener(input: $input) { webhookListener { id } } }`,
      { input: { eventTypes: memberTypes.map((type) => ({ type })) } },
    );
    // Another person of the account stays as it is.
    const other = await addTeamMember(t.operator, {
      lenderId: lender.id,
      firstName: 'Grace',
      lastName: 'Hopper',
      email: 'grace@lender.example',
    });
    await broken.waitFor(1);
    const subscriptions = {
      ...early,
      hanging: await subscribe('lender', hanging, ['team_member.added']),
      paused: await subscribe('lender', good, ['team_member.added']),
    };
    const referralSubscription = await subscribe('partner', good, ['referral.created']);
    await ask(
      'lender',
      `mutation ($input: PauseWebhookSubscriptionInput!) {
      pauseWebhookSubscription(input: $input) { userErrors { message } } }`,
      { input: { id: subscriptions.paused } },
    );

    const { memberId, referralId } = await plant();
    await updateTeamMember(t.operator, { teamMemberId: memberId, firstName: 'Plånted', email: 'new@plånted.example' });
    await eventually(async () => {
      expect(await t.sql('select from webhook_event_queue where blocked_on is null')).toEqual([]);
      expect(good.deliveries).toHaveLength(4);
      expect(broken.deliveries.length).toBeGreaterThanOrEqual(3);
      expect(hanging.deliveries).toHaveLength(1);
      expect(await t.sql('select from webhook_exchange where body is not null')).not.toHaveLength(0);
    });
    // One that no build can fan out, and one from an app of an early release.
    const [event] = await t.sql(
      `insert into webhook_event (account_id, interface, event_type, snapshot)
       select account_id, interface, event_type, snapshot from webhook_event where record_id = $1 limit 1 returning id`,
      [memberId.split('/').at(-1)],
    );
    // Without it, a worker sends the event: it examines what is blocked each minute, and when it takes a shard over.
    await t.sql(
      `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
       values ($1, 'lender', 'later.event', '2027-06-01')`,
      [subscriptions.paused.split('/').at(-1)],
    );
    await t.sql(
      `insert into webhook_event_queue (account_id, interface, event_id, blocked_on) values ($1, 'lender', $2, 'later.event')`,
      [lender.accountId, event?.['id']],
    );
    await t.sql('analyze team_member');
    expect(findIn(await dump())).toEqual(expect.arrayContaining([Buffer.from(person.lastName).toString('hex')]));

    // Written in another case, and with combining characters. The member had it in an event.
    const address = person.email.normalize('NFD').toUpperCase();
    const refused = await erase('--email', address, '--yes');
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Several accounts have this address'),
    });
    expect(refused.stdout).toContain(memberId);
    expect(refused.stdout).toContain(referralId);
    const before = await erasable();
    const dry = await erase('--email', address, '--account', lender.id, '--dry-run', '--json');
    expect(dry).toMatchObject(accepted);
    expect(JSON.parse(dry.stdout)).toEqual({
      records: [{ recordId: memberId, accountId: lender.id }],
      tables: expect.arrayContaining([
        { table: 'team_member', rows: 1 },
        { table: 'webhook_event', rows: 3 },
        { table: 'webhook_event_queue', rows: 1 },
        { table: 'webhook_payload', rows: 2 },
      ]),
    });
    expect(await erasable()).toEqual(before);

    // A request is being sent.
    const linesBefore = lines.length;
    const [{ id: hangingDelivery } = missing()] = await list('lender', subscriptions.hanging);
    const attempts = hanging.deliveries.length;
    await retry(hangingDelivery);
    await hanging.waitFor(attempts + 1);
    let hasEnded = false;
    const erasing = erase('--email', address, '--account', lender.id, '--yes').then((result) => {
      hasEnded = true;
      return result;
    });
    await eventually(async () =>
      expect(await t.sql('select from webhook_delivery where erased_at is not null')).not.toEqual([]),
    );
    expect(hasEnded).toBe(false);
    release?.();
    expect(await erasing).toEqual({ ...accepted, stdout: expect.stringContaining('Nothing of it is left') });
    expect(await erase('--record', referralId, '--yes')).toMatchObject(accepted);
    const sentBefore = [good, broken, hanging].map(({ deliveries: sent }) => sent.length);
    expect(findIn(await dump())).toEqual([]);
    expect(await t.sql('select from person_erasure')).toEqual([]);

    // Records.
    const [row] = await t.sql('select * from team_member where id = $1', [memberId.split('/').at(-1)]);
    const id = toRecordId<'TeamMember'>(memberId.split('/').at(-1) ?? '');
    for (const [detail, kind] of Object.entries(identifyingDetails.TeamMember))
      expect(row?.[detail.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]).toBe(placeholderOf(id, kind));
    const [referral] = await t.sql('select * from referral where id = $1', [referralId.split('/').at(-1)]);
    for (const [detail, kind] of Object.entries(identifyingDetails.Referral)) {
      const column = detail.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const number = toRecordId<'Referral'>(referralId.split('/').at(-1) ?? '');
      expect(referral?.[column]).toBe(kind === null ? null : placeholderOf(number, kind));
    }
    expect(JSON.stringify(await ask('lender', '{ lender { members { id firstName lastName email } } }'))).toContain(
      other.id,
    );

    // What is shown.
    expect(await statusesOf('lender', subscriptions.good)).toEqual([
      'DELIVERED ERASED',
      'DELIVERED ERASED',
      'DELIVERED null',
    ]);
    for (const each of [subscriptions.broken, subscriptions.hanging, subscriptions.paused]) {
      const statuses = await statusesOf('lender', each);
      expect(new Set(statuses.filter((status: string) => status.endsWith('ERASED')))).toEqual(
        new Set(['EXPIRED ERASED']),
      );
      expect(await statusesOf('lender', each, 'EXPIRED')).not.toEqual([]);
      expect(await statusesOf('lender', each, 'FAILED')).toEqual([]);
    }
    const pulled = (await ask('lender', events, { id: listener.webhookListener.id })).webhookEvents;
    expect(
      pulled.edges.map(({ sequence, node }) => [Number(sequence), node.payload === null, node.payloadDeletion]),
    ).toEqual([
      [1, false, null],
      [2, true, 'ERASED'],
      [3, true, 'ERASED'],
    ]);
    for (const [account, subscription] of [
      ['lender', subscriptions.good],
      ['lender', subscriptions.broken],
      ['partner', referralSubscription],
    ] as const) {
      for (const { id: shown } of await list(account, subscription))
        expect(findIn(JSON.stringify(await ask(account, whole, { id: shown })))).toEqual([]);
      expect(findIn(JSON.stringify(await ask(account, events, { id: subscription })))).toEqual([]);
    }

    // A receiver still proves that it has everything. Bodies that are erased are not compared.
    const received = join(folder, 'received.log');
    const own = good.deliveries.filter(
      ({ headers }) => headers['x-service-webhook-subscription-id'] === subscriptions.good,
    );
    const logged = own.map(({ headers, body }) => ({ deliveryId: headers['webhook-id'], body: body.toString() }));
    await writeFile(received, logged.map((line) => JSON.stringify(line)).join('\n'));
    const reconciled = await callOperator(
      env,
      'subscription',
      'reconcile',
      subscriptions.good,
      '--log',
      received,
      '--json',
    );
    expect(reconciled).toMatchObject(accepted);
    expect(JSON.parse(reconciled.stdout)).toMatchObject({ compared: 3, comparedBodies: 1, missingCount: 0 });

    // What can be asked for.
    const [first = missing()] = await list('lender', subscriptions.broken, 'EXPIRED');
    expect((await ask('lender', whole, { id: first.id })).webhookDelivery).toMatchObject({
      payload: null,
      preview: null,
      nextAttemptAt: null,
      delay: null,
    });
    expect(await retry(first.id)).toEqual([{ code: 'PAYLOAD_UNAVAILABLE' }]);
    const { replayWebhookEvents: replayed } = await ask(
      'lender',
      `mutation ($input: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $input) { webhookReplay { id } userErrors { message } } }`,
      { input: { subscriptionId: subscriptions.good, onlyFailed: false, since: '2026-01-02T00:00:00Z' } },
    );
    await eventually(async () => {
      const { webhookReplay: replay } = await ask(
        'lender',
        'query ($id: ID!) { webhookReplay(id: $id) { status queuedCount skippedCount skippedPendingCount } }',
        { id: replayed.webhookReplay.id },
      );
      expect(replay).toEqual({ status: 'COMPLETED', queuedCount: 1, skippedCount: 2, skippedPendingCount: 0 });
    });
    expect((await refer(`Key of ${memberId}`)).userErrors).toEqual([{ code: 'IDEMPOTENCY_KEY_REUSED' }]);
    const later = [good, broken, hanging].flatMap(({ deliveries: sent }, index) => sent.slice(sentBefore[index]));
    expect(later.flatMap(({ body }) => findIn(body.toString()))).toEqual([]);

    // The log of changes says that, by whom and of which record, and nothing else.
    const { stdout } = await callOperator(env, 'audit', 'list', '--json', '--limit', '100');
    const all: { action: string; actor: string; subject: string; details: object }[] = JSON.parse(stdout);
    const entries = all.filter(({ action }) => action === 'person.erase');
    expect(entries.map(({ actor, subject, details }) => ({ actor, subject, details }))).toEqual([
      { actor: 'ada', subject: referralId, details: { command: 'person.erase' } },
      { actor: 'ada', subject: memberId, details: { command: 'person.erase' } },
    ]);
    const log = join(folder, 'audit.jsonl');
    await writeFile(log, (await callOperator(env, 'audit', 'export', '--json')).stdout);
    expect(await callOperator(env, 'audit', 'verify', log)).toMatchObject(accepted);

    // Nothing is left for another run.
    for (const options of [
      ['--email', address],
      ['--record', memberId],
    ])
      expect(await erase(...options, '--yes')).toEqual({
        ...accepted,
        stdout: 'Nothing is kept\nNothing of it is left\n',
      });
    expect(lines.slice(linesBefore)).not.toEqual([]);
    expect(lines.slice(linesBefore).flatMap(findIn)).toEqual([]);
  }, 120_000);
});

test('a removed team member is found by its events, also by two commands at once', async () => {
  const { memberId } = await plant();
  await removeTeamMember(t.operator, { teamMemberId: memberId });
  const both = await Promise.all([
    erase('--email', person.email, '--account', lender.id, '--yes'),
    erase('--record', memberId, '--yes'),
  ]);
  expect(both).toMatchObject([accepted, accepted]);
  expect(await erase('--email', person.email, '--account', partner.id, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test.each([
  ['has begun', 'select from person_erasure where record_id = $1'],
  [
    'has ended deliveries',
    'select from webhook_failed_delivery join webhook_delivery on id = delivery_id where is_erased and record_id = $1',
  ],
])(
  'any later command finishes one that is killed when it %s',
  async (_, reached) => {
    await subscribe('lender', broken, ['team_member.added']);
    const { memberId, referralId } = await plant();
    await eventually(async () =>
      expect(await t.sql('select from webhook_pending_delivery where attempts > 0')).not.toEqual([]),
    );
    const command = spawn(
      process.execPath,
      [
        '--conditions',
        'deedwire-source',
        'apps/operator-cli/src/start.ts',
        'person',
        'erase',
        '--record',
        memberId,
        '--yes',
      ],
      { cwd: workspaceRoot, env: { ...process.env, ...env, NODE_ENV: 'test' }, stdio: 'ignore' },
    );
    const ended = once(command, 'exit');
    const number = memberId.split('/').at(-1);
    await eventually(async () => expect(await t.sql(reached, [number])).not.toEqual([]));
    command.kill('SIGKILL');
    await ended;
    // As if it had been killed after it erased an event from an app of an early release.
    await t.sql('update webhook_delivery set record_id = null where record_id = $1', [number]);
    await t.sql(`update webhook_event set record_id = null, snapshot = '{}' where record_id = $1`, [number]);
    expect(await erase('--record', referralId, '--yes')).toMatchObject(accepted);
    expect(await t.sql('select from person_erasure')).toEqual([]);
    expect(findIn(await dump())).toEqual([]);
  },
  120_000,
);

test('is erased again after the record was changed', async () => {
  const { memberId, referralId } = await plant();
  const numbers = [memberId, referralId].map((id) => id.split('/').at(-1));
  for (const id of [memberId, referralId]) expect(await erase('--record', id, '--yes')).toMatchObject(accepted);
  await t.sql('update team_member set last_name = $2 where id = $1', [numbers[0], person.lastName]);
  await t.sql('update referral set note = $2 where id = $1', [numbers[1], client.note]);
  for (const id of [memberId, referralId]) expect(await erase('--record', id, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('says that a record was changed meanwhile, and erases it in the next run', async () => {
  const { memberId, referralId } = await plant();
  const number = memberId.split('/').at(-1);
  const erasing = erase('--record', memberId, '--yes');
  await eventually(async () =>
    expect(await t.sql('select from person_erasure where record_id = $1', [number])).toHaveLength(1),
  );
  await t.sql('update team_member set last_name = $2 where id = $1', [number, person.lastName]);
  const changed = await erasing;
  expect(changed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Run the command again') });
  expect(changed.stdout).not.toContain('Nothing of it is left');
  for (const id of [memberId, referralId]) expect(await erase('--record', id, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('a delivery that a worker of an earlier release stored without its record is not sent', async () => {
  const receiver = await startReceiver({ onDelivery: (response) => response.writeHead(500).end() });
  onTestFinished(() => receiver.close());
  const subscription = await subscribe('lender', receiver, ['team_member.added']);
  const number = subscription.split('/').at(-1);
  const { memberId } = await plant();
  await eventually(async () =>
    expect(
      await t.sql('select from webhook_pending_delivery where subscription_id = $1 and attempts = 1', [number]),
    ).toHaveLength(1),
  );
  await t.sql('update webhook_delivery set record_id = null where subscription_id = $1', [number]);
  expect(await erase('--record', memberId, '--yes')).toMatchObject(accepted);
  const sent = receiver.deliveries.length;
  await ask(
    'lender',
    `mutation ($input: SendPendingWebhookDeliveriesInput!) {
       sendPendingWebhookDeliveries(input: $input) { userErrors { message } } }`,
    { input: { subscriptionId: subscription } },
  );
  await addTeamMember(t.operator, {
    lenderId: lender.id,
    firstName: 'Ida',
    lastName: 'B',
    email: 'ida@lender.example',
  });
  await receiver.waitFor(sent + 1);
  expect(receiver.deliveries.slice(sent).flatMap(({ body }) => findIn(body.toString()))).toEqual([]);
  expect((await statusesOf('lender', subscription)).at(-1)).toBe('EXPIRED ERASED');
  expect(await erase('--email', person.email, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('a worker that was suspended for longer than its lease sends nothing of it when it goes on', async () => {
  const receiver = await startReceiver({ onDelivery: (response) => response.writeHead(500).end() });
  onTestFinished(() => receiver.close());
  const own = await startTestSystem({
    apps: ['partner-api', 'webhook-worker'],
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '500' } },
  });
  onTestFinished(() => own.close());
  const { database, partner: api, sql, system } = own;
  const worker = system.apps['webhook-worker'];
  await subscribeTo(api, { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.created' }] });
  await api.request(ReferDocument, { input: client });
  await eventually(async () =>
    expect(await sql('select from webhook_pending_delivery where attempts = 1')).toHaveLength(1),
  );
  worker.kill('SIGSTOP');
  const urls = { DATABASE_URL: await database.urlFor('operator'), DATABASE_DIRECT_URL: database.databaseUrl };
  expect(
    await callOperatorWith({ env: { ...env, ...urls } }, 'person', 'erase', '--email', person.email, '--yes'),
  ).toMatchObject({ exitCode: 0 });
  const { length: sent } = receiver.deliveries;
  // It is due.
  worker.kill('SIGCONT');
  await sleep(5_000);
  expect(receiver.deliveries.slice(sent)).toEqual([]);
}, 120_000);

test('details of attempts are erased after the events of a removed team member were dropped', async () => {
  await subscribe('lender', broken, ['team_member.added', 'team_member.removed']);
  const { memberId, referralId } = await plant();
  await removeTeamMember(t.operator, { teamMemberId: memberId });
  const number = memberId.split('/').at(-1) ?? '';
  await eventually(async () =>
    expect(
      await t.sql(
        `select distinct event_type from webhook_exchange e join webhook_delivery d on d.id = e.delivery_id
         where d.record_id = $1 and e.body is not null`,
        [number],
      ),
    ).toHaveLength(2),
  );
  // A week later.
  for (const table of ['webhook_pending_delivery', 'webhook_payload', 'webhook_event'])
    await t.sql(
      `delete from ${table} where ${table === 'webhook_event' ? 'id' : 'event_id'} in (select event_id from webhook_delivery where record_id = $1)`,
      [number],
    );
  await t.sql(`analyze webhook_exchange_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`);
  for (const id of [referralId, number]) expect(await erase('--record', id, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('an account that is frozen or left, and a placeholder that another member has, are named, and nothing is changed', async () => {
  const { memberId } = await plant();
  const placeholder = `erased-${memberId.split('/').at(-1)}@erased.invalid`;
  const other = await addTeamMember(t.operator, {
    lenderId: lender.id,
    firstName: 'A',
    lastName: 'B',
    email: placeholder,
  });
  await eventually(async () => expect(await t.sql('select from webhook_event_queue')).toEqual([]));
  const before = await erasable();
  const refused = await erase('--record', memberId, '--yes');
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`has ${placeholder}`) });
  await t.sql('insert into account_home values ($1, 0, next_freeze())', [lender.accountId]);
  for (const leaves of [false, true]) {
    if (leaves) await t.sql('update account_home set cell = 7, frozen_at = null');
    const away = await erase('--record', memberId, '--yes');
    expect(away).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('frozen, or at home in another cell') });
    expect(await erasable()).toEqual(before);
  }
  await t.sql('delete from account_home');
  await updateTeamMember(t.operator, { teamMemberId: other.id, email: 'b@lender.example' });
  expect(await erase('--record', memberId, '--yes')).toMatchObject(accepted);
  expect(await erase('--email', person.email, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('says that it is not finished if the account is frozen meanwhile, and goes on in the next run', async () => {
  await subscribe('lender', broken, ['team_member.added']);
  const { memberId, referralId } = await plant();
  // It waits for requests.
  await eventually(async () => expect(await t.sql('select from webhook_pending_delivery')).not.toEqual([]));
  const erasing = erase('--record', memberId, '--yes');
  await eventually(async () => expect(await t.sql('select from person_erasure')).toHaveLength(1));
  await t.sql('insert into account_home values ($1, 0, next_freeze())', [lender.accountId]);
  const { exitCode, stderr } = await erasing;
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: The erasure is not finished\. Run .* \(The account \d+ is frozen/),
  });
  expect(stderr).not.toContain('Nothing was changed');
  // What is away does not keep others from being erased.
  expect(await erase('--record', referralId, '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from person_erasure')).toHaveLength(1);
  await t.sql('delete from account_home');
  const terminal = { env, columns: 40 };
  expect(await callOperatorWith(terminal, 'person', 'erase', '--record', memberId, '--yes')).toEqual({
    ...accepted,
    stdout: expect.stringContaining('\r\u001B[KWaiting for requests in flight\r\u001B[K'),
  });
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('an address is read from standard input, and its domain can be in ASCII', async () => {
  await plant();
  const ascii = 'ördög.žluťoučký@xn--plnted-jua.example';
  const given = await callOperatorWith(
    { env, input: Buffer.from(`${ascii}\n`) },
    'person',
    'erase',
    '--email',
    '-',
    '--dry-run',
  );
  expect(given).toMatchObject({ ...accepted, stdout: expect.stringContaining('team_member') });
  const none = await callOperatorWith({ env, input: Buffer.from('ada') }, 'person', 'erase', '--email', '-', '--yes');
  expect(none).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('standard input is not an email address'),
  });
  const crlf = { env, input: Buffer.from(`\ufeff${ascii}\r\n`) };
  expect(await callOperatorWith(crlf, 'person', 'erase', '--email', '-', '--dry-run')).toMatchObject({
    ...accepted,
    stdout: expect.stringContaining('team_member'),
  });
  for (const { id } of [lender, partner])
    expect(await erase('--email', person.email, '--account', id, '--yes')).toMatchObject(accepted);
}, 120_000);

test.each([
  ['nothing', '', 2],
  ['two lines', 'ada@lender.example\nbob@lender.example', 2],
  ['NUL', 'ada@lender.example\0', 2],
  ['Latin-1', Buffer.from('ördög@lender.example', 'latin1'), 2],
  ['UTF-16', Buffer.from('\ufeffada@lender.example', 'utf16le'), 2],
  ['255 characters', `${'a'.repeat(240)}@lender.example`, 2],
  ['1,001 bytes', 'a'.repeat(1_001), 1],
])('standard input that is %s is refused', async (_, input, exitCode) => {
  const surroundings = { env, input: Buffer.from(input) };
  const result = await callOperatorWith(surroundings, 'person', 'erase', '--email', '-', '--yes');
  expect(result).toEqual({
    exitCode,
    stdout: '',
    stderr: expect.stringMatching(/standard input is (?:not an email address|larger than)/i),
  });
});

test('samples that the planner keeps of a table are erased if it becomes empty', async () => {
  await t.sql('delete from idempotency_key');
  for (const number of [1, 2]) await refer(`${number} ${person.email}`);
  await t.sql('analyze idempotency_key');
  expect(await t.sql(`select from pg_stats where tablename = 'idempotency_key' and attname = 'key'`)).toHaveLength(1);
  expect(await erase('--email', person.email, '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from idempotency_key')).toEqual([]);
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('a record of another kind with this number is not listed', async () => {
  await subscribe('lender', good, ['team_member.added']);
  const { memberId, referralId } = await plant();
  await eventually(async () =>
    expect(await t.sql('select from webhook_delivery where record_id = $1', [memberId.split('/').at(-1)])).not.toEqual(
      [],
    ),
  );
  expect((await erase('--record', memberId.replace('TeamMember', 'Referral'), '--dry-run')).stdout).toBe(
    'Nothing is kept\n',
  );
  // A number alone names a record of either kind.
  for (const id of [memberId, referralId])
    expect(await erase('--record', id.split('/').at(-1) ?? '', '--yes')).toMatchObject({
      ...accepted,
      stdout: expect.stringContaining(id),
    });
  expect(findIn(await dump())).toEqual([]);
}, 120_000);

test('more deliveries than one statement takes are counted, read again and erased in parts', async () => {
  const { memberId } = await plant();
  const number = memberId.split('/').at(-1);
  const subscriptionId = (await subscribe('lender', broken, ['team_member.removed'])).split('/').at(-1);
  await t.sql(
    `with delivery as (
       insert into webhook_delivery (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at,
         sequence, record_id)
       select e.account_id, $2, e.interface, e.id, e.event_type, '2026-11-01', now(), n, e.record_id
       from webhook_event e, generate_series(1, 1100) n
       where e.record_id = $1
       returning *
     )
     insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version,
       occurred_at, sequence, due_at, body_bytes)
     select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
       now() + interval '1 day', 1
     from delivery`,
    [number, subscriptionId],
  );
  const { stdout } = await erase('--record', memberId, '--yes', '--json');
  const { tables }: { tables: { table: string; rows: number }[] } = JSON.parse(stdout);
  expect(tables.find(({ table }) => table === 'webhook_pending_delivery')?.rows).toBeGreaterThanOrEqual(1_100);
  expect(await t.sql('select from webhook_pending_delivery where subscription_id = $1', [subscriptionId])).toEqual([]);
  expect(await t.sql('select from webhook_delivery where record_id = $1 and erased_at is null', [number])).toEqual([]);
}, 120_000);

test('goes on if the partition is dropped that it reads', async () => {
  const { memberId, referralId } = await plant();
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  await t.sql(`alter table webhook_exchange detach partition webhook_exchange_${day}`);
  const worker = await connect(t.database.databaseUrl);
  onTestFinished(() => worker.close());
  await worker.run(`begin; drop table webhook_exchange_${day}`);
  const erasing = erase('--record', memberId, '--yes');
  await eventually(async () =>
    expect(
      await t.sql(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'select forget_emptied_table%'`,
      ),
    ).toHaveLength(1),
  );
  await worker.run('commit');
  expect(await erasing).toMatchObject(accepted);
  expect(await erase('--record', referralId, '--yes')).toMatchObject(accepted);
}, 120_000);

describe('what names no person', () => {
  test.each([
    [['--email', 'nobody@plånted.example', '--yes'], 0, 'Nothing is kept'],
    [['--record', 'TeamMember/4711', '--yes'], 0, 'Nothing is kept'],
    [['--record', 'Matter/4711', '--yes'], 2, 'This is a Matter; pass a TeamMember or a Referral.'],
    [['--record', '4711', '--yes'], 0, 'Nothing is kept'],
    [['--email', 'a@b', '--account', 'Lender/4711', '--yes'], 1, 'does not exist'],
    [['--email', 'a@b'], 2, 'pass --dry-run'],
    [['--email', 'ada@lender.example.', '--yes'], 2, 'is not an email address'],
    [['--email', 'mailto:ada@plånted.example', '--yes'], 2, 'pass the address alone'],
    [['--email', '\u200bada@plånted.example', '--yes'], 2, 'pass the address alone'],
    [['--email', 'Ada<ada@plånted.example>', '--dry-run'], 2, 'pass the address alone'],
    [['--email', 'ada@x', '--email', 'bob@x', '--yes'], 2, 'pass one --email'],
    [['--record', '4711', '--record', '4712', '--yes'], 2, 'pass one --record'],
    [['--record', 'TeamMember/4711', '--account', 'Lender/4711', '--yes'], 2, 'cannot be used with option'],
    [['--email', 'a@b', '--record', 'TeamMember/4711', '--yes'], 2, 'pass either --email or --record'],
  ])('%s exits with %i', async (options, exitCode, text) => {
    const result = await erase(...options);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stdout + result.stderr).toContain(text);
  });
});

test('a login that may not vacuum says what to run', async () => {
  await plant();
  const { DATABASE_DIRECT_URL: _, ...own } = env;
  const eraseOf = ({ id }: { id: string }, ...options: string[]) =>
    callOperator(own, 'person', 'erase', '--email', person.email, '--account', id, '--yes', ...options);
  const advice = 'Run as the owner: vacuum (analyze, index_cleanup on) team_member';
  expect(await eraseOf(partner)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(advice) });
  const { stderr } = await eraseOf(lender, '--json');
  expect(JSON.parse(stderr)).toEqual({ warning: { message: expect.stringContaining(advice) } });
  expect(await erase('--email', person.email, '--yes')).toMatchObject(accepted);
});
