import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createPortalLinkOfAccount,
  createWebhookListener,
  deleteWebhookListener,
  deleteWebhookSubscription,
  exchangePortalLink,
  findPortalLink,
  issueCredential,
  listPortalSessions,
  pauseWebhookSubscription,
  permitListeners,
  readWebhookSubscription,
  resumePausedSubscription,
  revokeCredential,
  rotateWebhookSecret,
  setClientLimit,
} from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { callOperator, createHarness, createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { addTeamMember, removeTeamMember } from '@deedwire/firm/lender';
import { convertReferral } from '@deedwire/firm/partner';
import { connect, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { startCopiedPostgres } from '../../support/cold-copies.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// A copy of a stopped server is the restored one, and what the server has afterwards is the old one. Both have the same logins.

const servers = await forFile(startCopiedPostgres());
const t = await forFile(createHarness({ url: servers.url, stop: async () => {} }));
const receiver = await forFile(startReceiver());
const { path: folder } = await forFile(temporaryFolder('restored'));
const { partner, lender } = t.accounts;
const exported = join(folder, 'audit-1.jsonl');
const at = (url: string, base: string): string => Object.assign(new URL(base), { host: new URL(url).host }).href;
const operatorUrl = await t.database.urlFor('operator');
const partnerUrl = await t.database.urlFor('partner_api');
const env = { DATABASE_URL: operatorUrl, OPERATOR_NAME: 'ada' };

const keyOf = ({ apiKey }: { apiKey: string }): string => parseApiKey(firm, apiKey)?.keyId ?? '';
const idOf = ({ id }: { id: string }): string => id;
const shortOf = (gid: string): string => gid.replace('gid://service/', '');
const issue = async () =>
  keyOf(await issueCredential(t.operator, { accountId: partner.id, clientId: partner.clientId }));
const add = (email: string) =>
  addTeamMember(t.operator, { lenderId: lender.id, firstName: 'Ada', lastName: 'B', email });
const subscribe = async () => (await t.subscribe(receiver.url, ['referral.converted'])).id;
const listen = async () => {
  const { webhookListener } = await createWebhookListener(t.partnerApi, partner, {
    eventTypes: [{ type: 'referral.converted' }],
  });
  return webhookListener?.id ?? '';
};
const countEntries = () => t.sql('select count(*) from audit_entry');
const sessions = async () => (await listPortalSessions(t.operator, { accountId: null, first: 10 })).edges;

async function signIn(): Promise<void> {
  const context = { ...t.operator, portalOrigin: 'https://portal.example' };
  const { url } = await createPortalLinkOfAccount(context, {
    accountId: partner.id,
    abilities: ['READ'],
    actor: 'ada',
  });
  const [, organizationId = '', link] = /\/portal\/(\d+)\/#link=(.+)$/.exec(url) ?? [];
  const found = await findPortalLink(t.partnerApi, { link, organizationId, interfaceName: 'partner' });
  if (found === null) throw new Error(`There is no link ${url}.`);
  await exchangePortalLink(t.partnerApi, found, { earlierHash: null, requestId: 'test', address: '127.0.0.1' });
}

/** What the restored database has. */
const [leaked, rotated, deleted, paused, listener] = [
  await issue(),
  await subscribe(),
  await subscribe(),
  await subscribe(),
  await listen(),
];
const [erased = '', kept = '', lost = ''] = await t.refer(3);
const removed = await add('a@lender.example');
const [ofLender] = await t.sql(
  `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
   values ($1, 'lender', 'https://lender.example/', '', nextval('webhook_queue_position'))
   returning 'WebhookSubscription/' || id as subject`,
  [lender.accountId],
);
await signIn();
await t.sql('create role dropped_login login in role webhook_worker');
await servers.copy('restored');
await servers.copy('restored-by-exports');

/** What it lacks. A login of an interface can write entries of its accounts about anything, and nothing of it hides what happened. */
const plant = async (action: string, subject: string) => {
  const app = await connect(partnerUrl);
  await app.run(
    `insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
     values ('CLIENT', 'x', '${action}', '${subject}', ${partner.accountId}, 'partner')`,
  );
  await app.close();
};
await plant('webhook_listener.create', leaked);
await plant('webhook_subscription.create', erased);
await plant('webhook_subscription.create', partner.id);
await revokeCredential(t.operator, { keyId: leaked });
await plant('webhook_subscription.delete', leaked);
await rotateWebhookSecret(t.operator, t.operator.operator, { id: rotated, overlapSeconds: 0 });
await deleteWebhookSubscription(t.partnerApi, partner, { id: deleted });
await pauseWebhookSubscription(t.partnerApi, partner, { id: paused });
await deleteWebhookListener(t.partnerApi, partner, { id: listener });
await removeTeamMember(t.operator, { teamMemberId: removed.id });
await setClientLimit(t.operator, { clientId: partner.clientId, maximum: 4_000, restoreRate: 1_000_000 });
await permitListeners(t.operator, { accountId: partner.id, isForbidden: true });
const issued = await issue();
const passing = await issue();
await revokeCredential(t.operator, { keyId: passing });
const ofLostClient = await issueCredential(t.operator, { accountId: partner.id, clientId: null });
await setClientLimit(t.operator, { clientId: ofLostClient.clientId, maximum: 5_000, restoreRate: 500 });
// It is active there, too.
await pauseWebhookSubscription(t.partnerApi, partner, { id: rotated });
await resumePausedSubscription(t.operator, { subscriptionId: rotated });
const subscribed = await subscribe();
await rotateWebhookSecret(t.operator, t.operator.operator, { id: subscribed, overlapSeconds: 0 });
const added = await add('c@lender.example');
await convertReferral(t.operator, { referralId: lost });
await t.sql(
  `insert into audit_entry (actor_type, actor, action, subject) values ('OPERATOR', 'ada', 'future.thing', 'x')`,
);
await t.refer(1);
// It cannot delete the subscription of a lender.
await plant('webhook_subscription.delete', `gid://service/${String(ofLender?.['subject'])}`);
const [unknown] = await t.sql(`select number::text as number from audit_entry where action = 'future.thing'`);
const erase = () => callOperator(env, 'person', 'erase', '--record', erased, '--yes');
await erase();
const [numbers] = await t.sql(`select last_value::text as matter from matter_number`);
await t.sql('alter role partner_api_login nologin');
await t.sql('drop role dropped_login');
await writeFile(exported, (await callOperator(env, 'audit', 'export', '--json')).stdout);
await servers.stopFirst();
const oldUrl = at(await servers.start('first'), operatorUrl);
const byExportsUrl = await servers.start('restored-by-exports');
const superuserUrl = await servers.start('restored', Number(new URL(servers.url).port));

/** What operators did comes first, then what clients say, then what cannot be read. */
const repeatable = [
  `revoke:${leaked}`,
  `delete:${shortOf(removed.id)}`,
  `limit:${partner.clientId}`,
  `listeners:${shortOf(partner.id)}`,
  `delete:${shortOf(deleted)}`,
  `pause:${shortOf(paused)}`,
  `delete:${shortOf(listener)}`,
];
const [toRotate, toErase] = [`rotate:${shortOf(rotated)}`, `erase:${shortOf(erased)}`];
const planted = `delete:${String(ofLender?.['subject'])}`;
const listed = [
  toRotate,
  `issue:${issued}`,
  `issue:${keyOf(ofLostClient)}`,
  `limit:${ofLostClient.clientId}`,
  `create:${shortOf(added.id)}`,
  toErase,
  `create:${shortOf(subscribed)}`,
  planted,
  `read:${String(unknown?.['number'])}`,
  'read:partner_api_login',
];
const toWaive = listed.filter((id) => id !== toRotate && id !== toErase);

const restored = (variables: object, ...args: string[]) =>
  callOperator({ ...env, ...variables }, 'database', 'restored', ...args);
async function report(variables: object, ...args: string[]) {
  const { exitCode, stdout, stderr } = await restored(variables, ...args, '--json');
  if (stdout === '') throw new Error(stderr);
  const { open, repeated, ...rest } = JSON.parse(stdout);
  return { exitCode, stderr, open: open.map(idOf), items: open, repeated: repeated.map(idOf), ...rest };
}
const revokedAt = async (url: string) => {
  const connection = await forTest(connect(url));
  return connection.run(`select revoked_at is not null as revoked from api_key where key_id = '${leaked}'`);
};

describe('refuses', () => {
  test('without one source, beside apps, while a split is open, and the database itself or that of another installation as the old one', async () => {
    expect(await restored({})).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('either --old-url or --export'),
    });
    expect(await restored({}, '--old-url', oldUrl, '--export', exported)).toMatchObject({ exitCode: 2 });
    expect(await restored({}, '--old-url', 'x')).toMatchObject({ exitCode: 2 });
    expect(await restored({}, '--old-url', operatorUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('leads to this one'),
    });
    const other = await forTest(createMigratedDatabase());
    expect(await restored({}, '--old-url', await other.urlFor('operator'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not of this installation'),
    });
    const named = new URL(superuserUrl);
    named.searchParams.set('application_name', 'deedwire-lender-api');
    for (const [url, app] of [
      [partnerUrl, 'the login partner_api_login'],
      [named.href, 'lender-api'],
    ] as const) {
      const session = await connect(url);
      const beside = await restored({}, '--old-url', oldUrl);
      await session.close();
      expect(beside).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(
            `^error: A process of ${app} is connected to this database\\. .* After a failover, pass --failover\\.`,
          ),
        ),
      });
    }
    await t.sql(
      `insert into cell_split (from_cell, to_cell, organization_ids, standbys, freeze_lsn) values (0, 5, '{}', '{}', '0/1')`,
    );
    expect(await restored({}, '--old-url', oldUrl, '--failover')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('A split is open.'),
    });
    await t.sql('delete from cell_split');
    expect(await revokedAt(superuserUrl)).toEqual([{ revoked: false }]);
  });

  test('an old database that has nothing more, such as a standby, this one in its place, and one without the schema', async () => {
    const copyUrl = at(byExportsUrl, operatorUrl);
    expect(await restored({}, '--old-url', copyUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has no entry that this one lacks'),
    });
    expect(await restored({ DATABASE_URL: oldUrl }, '--old-url', operatorUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has no entry that this one lacks'),
    });
    const waived = await report({}, '--old-url', copyUrl, '--dry-run', '--waive', 'know:nothing-lost');
    expect(waived).toMatchObject({ exitCode: 0, lost: {}, open: [], waived: ['know:nothing-lost'] });
    const url = Object.assign(new URL(oldUrl), { pathname: '/template1' });
    const { exitCode, stderr } = await restored({}, '--old-url', url.href);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).toContain(`${url.host}/template1 of --old-url is no Deedwire database of this release: `);
    expect(await sessions()).toHaveLength(1);
  });

  test('a wrong GID_NAMESPACE, and a copy for tests as either database', async () => {
    expect(await restored({ GID_NAMESPACE: 'other' }, '--old-url', oldUrl)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('begin with gid://service/ and cannot change'),
    });
    const copy = await forTest(connect(byExportsUrl));
    await copy.run(
      `insert into audit_entry (actor_type, actor, action, subject) values ('OPERATOR', 'ada', 'database.copied', 'database')`,
    );
    const copyUrl = at(byExportsUrl, operatorUrl);
    const ofCopies = [
      await restored({}, '--old-url', copyUrl),
      await restored({ DATABASE_URL: copyUrl }, '--export', exported),
    ];
    await copy.run(`delete from audit_entry where action = 'database.copied'`);
    expect(ofCopies.map(({ exitCode }) => exitCode)).toEqual([1, 1]);
    expect(ofCopies[0]?.stderr).toContain('The other database is a copy for tests');
    expect(ofCopies[1]?.stderr).toContain('This database is a copy for tests');
    expect(await revokedAt(byExportsUrl)).toEqual([{ revoked: false }]);
    expect(await sessions()).toHaveLength(1);
  });

  test('exports that were changed, or have nothing in common with the database', async () => {
    const text = await readFile(exported, 'utf8');
    const changed = join(folder, 'changed.jsonl');
    await writeFile(changed, text.replace('credential.revoke', 'credential.expire'));
    expect(await restored({}, '--export', changed)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('its content was changed'),
    });
    const lines = text.split('\n').filter((line) => line.includes('future.thing'));
    const end = join(folder, 'end.jsonl');
    await writeFile(end, `${lines.join('\n')}\n`);
    expect(await restored({}, '--export', end)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no entry in common'),
    });
    expect(await revokedAt(superuserUrl)).toEqual([{ revoked: false }]);
  });
});

test('lists what it would do with --dry-run, and changes nothing', async () => {
  const before = await countEntries();
  const dry = await report({}, '--old-url', oldUrl, '--dry-run');
  expect(dry).toMatchObject({ exitCode: 0, stderr: '', endedSessions: 1, waived: [], advanced: [] });
  expect(dry.repeated).toEqual([...repeatable, 'login:partner_api_login']);
  expect(dry.open).toEqual([...listed, 'login:dropped_login']);
  const { stdout } = await restored({}, '--old-url', oldUrl, '--dry-run');
  expect(stdout).toContain(`Would repeat revoke:${leaked}\n`);
  expect(await countEntries()).toEqual(before);
  expect(await revokedAt(superuserUrl)).toEqual([{ revoked: false }]);
  expect(await sessions()).toHaveLength(1);
});

test('repeats with the old database what happened since, lists the rest until it is done or waived, and repeats nothing twice', async () => {
  expect(await sessions()).toHaveLength(1);
  const first = await report({}, '--old-url', oldUrl);
  expect(first).toMatchObject({ exitCode: 1, endedSessions: 1, repeated: repeatable, waived: [] });
  expect(first.open).toEqual([...listed, 'login:dropped_login', 'login:partner_api_login']);
  expect(first.items.at(-1)).toMatchObject({
    toDo: expect.stringContaining('alter role "partner_api_login" nologin;'),
  });
  expect(first.items).toContainEqual(
    expect.objectContaining({ id: planted, toDo: expect.stringContaining('Find out who wrote it.') }),
  );
  const toDo = (id: unknown) => first.items.find((item: { id: string }) => item.id === id).toDo;
  expect(listed.slice(1, 4).map(toDo)).toEqual([
    expect.stringContaining(`--account ${partner.id} --client ${partner.clientId}`),
    expect.stringMatching(/ --account \S+$/),
    expect.stringContaining('client set-limit <id> --maximum 5000 --restore-rate 500'),
  ]);
  expect(first.lost).toMatchObject({ 'credential.revoke': 2, 'referral.convert': 1 });
  expect(first.advanced).toEqual([{ name: 'matter_number', before: expect.any(String), after: numbers?.['matter'] }]);
  expect(first.stderr).toContain('12 items are open');

  expect(await sessions()).toEqual([]);
  expect(await revokedAt(superuserUrl)).toEqual([{ revoked: true }]);
  expect(await readWebhookSubscription(t.operator, { subscriptionId: paused })).toMatchObject({ status: 'PAUSED' });
  await expect(readWebhookSubscription(t.operator, { subscriptionId: deleted })).rejects.toThrow('does not exist');
  expect(
    await t.sql(
      `select (select cost_maximum from api_client where client_id = $1) as maximum, webhook_listeners_forbidden_at is not null as forbidden
       from account where id = $2`,
      [partner.clientId, partner.accountId],
    ),
  ).toEqual([{ maximum: 4_000, forbidden: true }]);
  expect(
    await t.sql(`select distinct actor from audit_entry where action in ('credential.revoke', 'database.restored')`),
  ).toEqual([{ actor: 'ada' }]);

  // With a login that may change roles, beside an app. What was decided after the first run stays.
  await signIn();
  await resumePausedSubscription(t.operator, { subscriptionId: paused });
  await rotateWebhookSecret(t.operator, t.operator.operator, { id: rotated, overlapSeconds: 0 });
  const second = await report(
    { DATABASE_URL: superuserUrl },
    '--old-url',
    oldUrl,
    '--failover',
    '--waive',
    ...toWaive,
    'login:dropped_login',
  );
  expect(second).toMatchObject({
    exitCode: 1,
    endedSessions: null,
    repeated: ['login:partner_api_login'],
    open: [toErase],
    waived: [...toWaive, 'login:dropped_login'],
    advanced: [],
  });
  expect(await t.sql(`select rolcanlogin from pg_roles where rolname = 'partner_api_login'`)).toEqual([
    { rolcanlogin: false },
  ]);
  expect(await sessions()).toHaveLength(1);

  expect(await erase()).toMatchObject({ exitCode: 0 });
  const unknownItem = await report({}, '--old-url', oldUrl, '--waive', 'rotate:WebhookSubscription/1');
  expect(unknownItem).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no item rotate:WebhookSubscription/1'),
  });
  const third = await restored({}, '--old-url', oldUrl);
  expect(third).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('Nothing is open') });
  expect(await readWebhookSubscription(t.operator, { subscriptionId: paused })).toMatchObject({ status: 'ACTIVE' });

  await convertReferral(t.operator, { referralId: kept });
  const [{ reference } = {}] = await t.sql('select reference from matter order by id desc limit 1');
  expect(Number(String(reference).split('-').at(-1))).toBe(Number(numbers?.['matter']) + 1);
});

test('repeats the same with exports, which know neither logins nor what came after them', async () => {
  const variables = { DATABASE_URL: at(byExportsUrl, operatorUrl) };
  const matter = ['--matter-number', String(numbers?.['matter'])];
  const first = await report(variables, '--export', exported, ...matter);
  expect(first).toMatchObject({ exitCode: 1, endedSessions: 1, repeated: repeatable });
  const know = [expect.stringMatching(/^know:\d{4}-/), 'know:logins'];
  expect(first.open.slice(0, -2)).toEqual(listed);
  expect(first.open.slice(-2).toSorted()).toEqual(know);
  expect(first.advanced).toEqual([{ name: 'matter_number', before: expect.any(String), after: numbers?.['matter'] }]);
  expect(await revokedAt(byExportsUrl)).toEqual([{ revoked: true }]);

  const second = await restored(variables, '--export', exported, '--failover', '--waive', ...first.open);
  expect(second).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('Nothing is open') });
  const third = await report(variables, '--export', exported);
  expect(third).toMatchObject({ exitCode: 0, repeated: [], open: [], advanced: [], endedSessions: null });
});
