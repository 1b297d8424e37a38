import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pinClient } from '@deedwire/actions';
import type { AppName } from '@deedwire/dev-environment/firm/system';
import { callOperator, startTestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { applyMigrations, readMigrations } from '@deedwire/store';
import { createClient, eventually, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, expect, test, vi } from 'vitest';
import { run } from '../../../../../packages/contract-check/src/cli/run.ts';
import * as operations from '../../../consumers/referral-portal/generated/2026-11-01.ts';
import buildWorkspace from '../../support/built-workspace.ts';
import { succeed } from '../../support/command.ts';
import { type Build, buildIn, changeBuild } from '../../support/other-build.ts';
import { pullDeliveries, pullSettledDeliveries } from '../../support/pull.ts';
import { subscribe } from '../../support/subscribe.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// Deploys builds of this tree with one contract less, in each order, including against the answer: what is refused breaks for a client, and
// what is allowed does not.

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
await buildWorkspace();
const t = await forFile(startTestSystem({ built: true }));
const receiver = await forFile(startReceiver());
const folder = mkdtempSync(join(tmpdir(), 'can-i-deploy-pairs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { DATABASE_URL: await t.database.urlFor('operator') };
const own = buildIn(workspaceRoot);
const changed = (apps: readonly string[], changes: Parameters<typeof changeBuild>[2]): Promise<Build> =>
  changeBuild(folder, apps, changes);

const environment = join(folder, 'test.json');
const exportArguments = ['environment', 'export', '--name', 'test', '--out', environment];

async function ask(...args: string[]): Promise<string> {
  expect(await callOperator(env, ...exportArguments)).toMatchObject({ exitCode: 0 });
  return answerTo(...args);
}

/** The answer, and the rules of its findings with what they say about deliveries. */
async function answerTo(...args: string[]): Promise<string> {
  const options = ['--root', folder, '--environment', environment, '--format', 'json', '--unused-for', '1d'];
  const { exitCode, stdout, stderr } = await run(['can-i-deploy', ...options, ...args]);
  expect(stderr).toBe('');
  const { answer, findings } = JSON.parse(stdout);
  expect(exitCode).toBe({ yes: 0, no: 1, unknown: 3 }[String(answer)]);
  const rules = findings.map(({ rule, message }: { rule: string; message: string }) =>
    [rule.replace('deploy/', ''), ...(/would (?:wait|fail)/.exec(message) ?? [])].join(': '),
  );
  return [answer, ...new Set(rules)].join(' ');
}

const live = { ...t.system.apps };
const urlOf = (name: 'lender' | 'partner'): string => `${live[`${name}-api`].url}/${name}s/graphql`;
const { partner, lender } = t.accounts;

async function deploy(app: AppName, build: Build): Promise<void> {
  await live[app].stop();
  live[app] = await t.system.add(app, {}, build.folder);
  await untilRegistered(app, build);
}

function untilRegistered(app: AppName, build: Build): Promise<void> {
  const { version } = JSON.parse(readFileSync(build.contractsOf(app), 'utf8'));
  return eventually(async () => {
    const rows = await t.sql('select version from app_process where app = $1 and digest is not null', [app]);
    expect(rows).toContainEqual({ version });
  });
}
for (const app of ['lender-api', 'partner-api', 'webhook-worker'] as const) await untilRegistered(app, own);
// As if the APIs had counted for longer than a version must be unused.
await t.sql(`update use_counting set counted_from = now() - interval '2 days'`);

/** What a client gets for a document. */
async function send(name: 'lender' | 'partner', query: string, version?: string): Promise<string> {
  const headers = version === undefined ? {} : { 'X-Service-Schema-Version': version };
  const { status, body } = await postGraphql(urlOf(name), t.accounts[name].credential, { query, headers });
  return [status, ...(body.errors ?? []).map(({ extensions }) => extensions.code)].join(' ');
}

/** The file that names what a client needs, from the contracts of this build. */
async function usesOf(consumer: string, ...needs: string[]): Promise<string> {
  const file = join(folder, `${consumer}.json`);
  expect(await run(['uses', '--consumer', consumer, '--output', file, ...needs])).toMatchObject({ exitCode: 0 });
  return file;
}
function usesOfDocument(name: 'lender' | 'partner', consumer: string, query: string, version: string): Promise<string> {
  writeFileSync(join(folder, `${consumer}.graphql`), query);
  const schema = join(workspaceRoot, `packages/${name}-schema/versions/${version}.graphql`);
  return usesOf(consumer, '--schema', schema, '--documents', join(folder, `${consumer}.graphql`));
}

const client = () => createClient(urlOf('partner'), partner.credential);
const subscribeTo = (type: string, version?: string) =>
  subscribe(client(), { callbackUrl: receiver.url, eventTypes: [{ type, version: version ?? null }] });
const kept = await subscribeTo('webhook.test');

/** What becomes of an event that the API appends now. */
async function sendEvent(subscriptionId: string, eventType: string): Promise<string> {
  const { sendTestWebhookEvent: sent } = await client().request(operations.SendTestDocument, {
    input: { subscriptionId, eventType },
  });
  if (sent.userErrors[0]) return sent.userErrors[0].code;
  return eventually(async () => {
    const deliveries = await pullDeliveries(client(), subscriptionId);
    const status = deliveries.find(({ event }) => event.id === sent.webhookEventId)?.status ?? 'PENDING';
    if (status !== 'PENDING') return status;
    const entry = [eventType, sent.webhookEventId?.split('/').at(-1)];
    const waiting = await t.sql('select from webhook_event_queue where blocked_on = $1 and event_id = $2', entry);
    expect(waiting).not.toEqual([]);
    return 'WAITS';
  });
}

/** Asks about a build and deploys it, whatever the answer is. */
async function replace(app: AppName, build: Build): Promise<string> {
  const answer = await ask('--build', build.contractsOf(app));
  await deploy(app, build);
  expect(await sendEvent(kept.id, 'webhook.test')).toBe('DELIVERED');
  expect(await send('lender', '{ lender { id } }')).toBe('200');
  return answer;
}

const registry = 'packages/webhook-events/dist/generated/registry.js';
const renderers = 'packages/firm/dist/generated/events.js';
const without =
  (part: RegExp | string) =>
  (text: string): string =>
    text.replace(part, '');

test.each([
  {
    event: 'referral.declined@2026-11-01',
    isLastOfType: true,
    changes: {
      [registry]: without(/ {4}\{\n {8}type: 'referral\.declined',[^]*?\n {4}\},\n/),
      [renderers]: without(/ {4}withRenderers\(referralDeclined, .*\n/),
    },
  },
  {
    event: 'referral.converted@2027-02-01',
    isLastOfType: false,
    changes: {
      [registry]: without(/(?<=type: 'referral\.converted',[^{}]*\{[^{}]*\},\n) {12}\{.*\n/),
      [renderers]: without(", '2027-02-01': referralConverted20270201"),
    },
  },
])('a worker and an API with and without $event', async ({ event, isLastOfType, changes }) => {
  const [type = '', version = ''] = event.split('@');
  const less = await changed(['partner-api', 'webhook-worker'], changes);
  const schema = join(workspaceRoot, `packages/webhook-events/json-schema/${type}/${version}.json`);
  const consumer = await usesOf(`handler-of-${event}`, '--events', schema);
  const refused = isLastOfType ? 'no typeUnknown: would wait' : 'no versionNotRendered: would wait';

  expect(await ask('--consumer', consumer)).toBe('yes');
  expect(await ask('--build', less.contractsOf('webhook-worker'))).toBe(refused);
  expect(await replace('partner-api', less)).toBe('yes');
  await expect(subscribeTo(type, version)).rejects.toThrow(
    isLastOfType ? 'EVENT_TYPE_UNKNOWN' : 'EVENT_VERSION_UNKNOWN',
  );
  // No live build accepts a pin of the type, so none is known to be the one that should.
  expect(await ask('--consumer', consumer)).toBe(isLastOfType ? 'unknown appNotLive' : 'no consumerBroken');
  expect(await replace('webhook-worker', less)).toBe('yes');
  expect(await ask('--build', own.contractsOf('webhook-worker'))).toBe('yes');

  // The API before the worker. In the other order, the same builds run.
  expect(await replace('partner-api', own)).toBe(refused);
  const { id } = await subscribeTo(type, version);
  expect(await sendEvent(id, type)).toBe('WAITS');
  expect(await ask('--consumer', consumer)).toBe('no consumerBroken');
  expect(await replace('webhook-worker', own)).toBe('yes');
  expect(await sendEvent(id, type)).toBe('DELIVERED');
  expect(await pullSettledDeliveries(client(), id, 2)).toMatchObject([
    { status: 'DELIVERED' },
    { status: 'DELIVERED' },
  ]);

  // A subscription pins it now.
  const both = isLastOfType ? `${refused} versionNotRendered: would wait` : refused;
  expect(await ask('--build', less.contractsOf('webhook-worker'))).toBe(both);
  expect(await answerTo('--build', less.contractsOf('partner-api'))).toBe('no usedContractBroken');
  expect(await answerTo('--build', own.contractsOf('partner-api'))).toBe('yes');
});

test('an API whose events have and lack what a worker reads', async () => {
  const less = await changed(['partner-api'], {
    'packages/firm/dist/events/referral.declined/event.js': without(
      /, reason: z\.string\(\)\.nullable\(\)|, 'reason'| +reason: 'Outside of our area\.',\n/g,
    ),
  });
  const { id } = await subscribeTo('referral.declined');
  expect(await sendEvent(id, 'referral.declined')).toBe('DELIVERED');
  expect(await replace('partner-api', less)).toBe('no snapshotInsufficient: would fail');
  expect(await ask('--build', own.contractsOf('webhook-worker'))).toBe('no snapshotInsufficient: would fail');
  expect(await sendEvent(id, 'referral.declined')).toBe('FAILED');
  expect(await replace('partner-api', own)).toBe('yes');
  expect(await sendEvent(id, 'referral.declined')).toBe('DELIVERED');
});

test('an API with and without a version', async () => {
  const version = '2027-02-01';
  const document = '{ lender { name } }';
  const less = await changed(['lender-api'], {
    'packages/lender-schema/dist/generated/versions.js': without(/ {4}\{ version: '2027-02-01'.*\n/),
    'packages/firm/dist/generated/interfaces.js': without(/ {12}\{ version: '2027-02-01'.*\n/),
    'apps/lender-api/dist/generated/schemas.js': without(/ {4}\['2027-02-01'.*\n/),
  });
  const consumer = await usesOfDocument('lender', 'next', document, version);
  const keptConsumer = await usesOfDocument('lender', 'current', document, '2026-11-01');

  expect(await ask('--build', less.contractsOf('lender-api'))).toBe('yes');
  const { clientId } = lender.credential;
  await pinClient(t.operator, { clientId, schemaVersion: version });
  expect(await ask('--build', less.contractsOf('lender-api'))).toBe('no usedContractBroken');
  await deploy('lender-api', less);
  expect(await send('lender', document)).toBe('400 UNSUPPORTED_SCHEMA_VERSION');
  expect(await send('lender', document, '2026-11-01')).toBe('200');
  expect(await ask('--consumer', keptConsumer)).toBe('yes');
  expect(await answerTo('--consumer', consumer)).toBe('no consumerBroken');

  await pinClient(t.operator, { clientId, schemaVersion: '2026-11-01' });
  expect(await replace('lender-api', own)).toBe('yes');
  expect(await ask('--consumer', consumer)).toBe('yes');
  expect(await send('lender', document, version)).toBe('200');

  // It was used. The process stores what it has counted when it ends.
  await deploy('lender-api', own);
  expect(await ask('--build', less.contractsOf('lender-api'))).toBe('no usedContractBroken');
});

test('an API with and without a field', async () => {
  const document = '{ partner { name } }';
  const sdl = without(/ {2}"""\n {2}Name of the partner\.\n {2}"""\n {2}name: String!\n/);
  const less = await changed(['partner-api'], {
    'packages/partner-schema/versions/2026-11-01.graphql': sdl,
    'packages/partner-schema/dist/generated/sdl.js': sdl,
    'apps/partner-api/dist/schema/partner.js': without(/ +name: t\.exposeString\('name'\),\n/),
  });
  const consumer = await usesOfDocument('partner', 'name', document, '2026-11-01');
  const keptConsumer = await usesOfDocument('partner', 'id', '{ partner { id } }', '2026-11-01');

  expect(await ask('--consumer', consumer)).toBe('yes');
  expect(await send('partner', document)).toBe('200');
  expect(await replace('partner-api', less)).toBe('no usedContractBroken');
  expect(await ask('--consumer', consumer)).toBe('no consumerBroken');
  expect(await send('partner', document)).toBe('200 GRAPHQL_VALIDATION_FAILED');
  expect(await ask('--consumer', keptConsumer)).toBe('yes');
  expect(await send('partner', '{ partner { id } }')).toBe('200');
  expect(await replace('partner-api', own)).toBe('yes');
  expect(await send('partner', document)).toBe('200');
});

// The last test: it changes the database.
test('an API with and without a migration', async () => {
  const path = 'packages/store/migrations';
  const last = Number.parseInt((await readMigrations()).at(-1)?.name ?? '', 10);
  const migrationAfter = (count: number, name: string) => `${String(last + count).padStart(4, '0')}-${name}`;
  const [next, end] = [migrationAfter(1, 'next'), migrationAfter(2, `drop-needs-${String(last + 1).padStart(4, '0')}`)];
  const more = await changed(['lender-api', 'operator-cli'], { [`${path}/${next}.sql`]: () => 'select 1;\n' });
  const apply = async () =>
    applyMigrations(t.database.databaseUrl, await readMigrations(pathToFileURL(`${join(more.folder, path)}/`)), {});
  /** Starts an API that does not become ready, and returns why. */
  async function start(build: Build) {
    const [port, adminPort] = [await findFreePort(), await findFreePort()];
    const ready = t.system.add('lender-api', { PORT: String(port), ADMIN_PORT: String(adminPort) }, build.folder);
    const problems = await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/ready`);
      const text = await response.text();
      expect(text).not.toContain('starting');
      return text;
    });
    return { ready, problems };
  }

  expect(await ask('--build', more.contractsOf('lender-api'))).toBe('no migrationMissing');
  const { ready, problems } = await start(more);
  expect(problems).toContain(next);
  await apply();
  // In the other order, the database is ahead of the build, which starts below.
  expect(await ask('--build', own.contractsOf('lender-api'))).toBe('yes');
  expect(await answerTo('--build', more.contractsOf('lender-api'))).toBe('yes');
  await ready;

  writeFileSync(join(more.folder, path, `${end}.sql`), 'select 1;\n');
  await apply();
  // The operator of this build does not work either.
  const operator = join(more.folder, 'apps/operator-cli/dist/main.js');
  await succeed(process.execPath, [operator, ...exportArguments], { cwd: folder, env });
  expect(await answerTo('--build', more.contractsOf('lender-api'))).toBe('yes');
  expect(await answerTo('--build', own.contractsOf('lender-api'))).toBe('no migrationTooLate');
  const outdated = await start(own);
  expect(outdated.problems).toContain(end);
  await t.sql('delete from schema_migration where name = $1', [end]);
  await outdated.ready;
});
