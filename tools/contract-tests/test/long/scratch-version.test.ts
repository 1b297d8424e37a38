import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createReferralForPartner, declineReferral } from '@deedwire/actions';
import { startSystem } from '@deedwire/dev-environment';
import { createHarness, type Harness, urlsOfApps } from '@deedwire/dev-environment/harness';
import { credentialHeaders, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { partnerWithTitle } from '../support/partner-with-title.ts';
import { copyWorkspace, type WorkspaceCopy } from '../support/workspace-copy.ts';

// The first test adds a version of the partner interface and one of an event to a copy of this workspace, each with new files
// and one entry in `versions.json`. The last test continues from there: it retires the older versions by deleting their files
// and entries.

const run = promisify(execFile);
const scratch = '2099-01-01';
const preview = { status: 'preview', deprecatedOn: null, sunsetOn: null };
const deprecated = { status: 'deprecated', deprecatedOn: '2098-01-01', sunsetOn: '2099-01-01' };
const current = { status: 'current', deprecatedOn: null, sunsetOn: null };
const eventVersions = 'packages/webhook-events/versions.json';

let workspace: WorkspaceCopy;
let harness: Harness;

beforeAll(async () => {
  workspace = await copyWorkspace({});
  harness = await createHarness();
}, 120_000);

afterAll(async () => {
  await harness.close();
  await workspace.remove();
});

function edit(file: string, ...replacements: [from: string | RegExp, to: string][]): void {
  let text = readFileSync(join(workspace.folder, file), 'utf8');
  for (const [from, to] of replacements) {
    const edited = text.replace(from, to);
    if (edited === text) throw new Error(`${file} does not contain ${from}.`);
    text = edited;
  }
  writeFileSync(join(workspace.folder, file), text);
}

/** Replaces the versions of `referral.declined`. */
function listEventVersions(versions: object): void {
  const file = join(workspace.folder, eventVersions);
  const types: object = { ...JSON.parse(readFileSync(file, 'utf8')), 'referral.declined': versions };
  writeFileSync(file, JSON.stringify(types));
}

function derive(from: string, to: string, ...replacements: [from: string | RegExp, to: string][]): void {
  cpSync(join(workspace.folder, from), join(workspace.folder, to));
  edit(to, ...replacements);
}

const typical = (version: string): string =>
  `packages/webhook-events/fixtures/referral.declined/${version}/accept/typical.json`;

const remove = (file: string): void => rmSync(join(workspace.folder, file));

/** Generates the published files of both contract packages and checks the types of the apps that serve them. */
async function build(): Promise<void> {
  const generator = [
    '--conditions=deedwire-source',
    'tools/generate/src/main.ts',
    'schema-packages',
    'payloads',
    'served-versions',
  ];
  await run(process.execPath, generator, { cwd: workspace.folder });
  await run('node_modules/.bin/tsc', ['-b', 'apps/partner-api', 'apps/webhook-worker'], { cwd: workspace.folder });
}

/** Generates the reference of the copy and returns one of its pages. Null if there is no such page. */
async function referencePage(path: string): Promise<string | null> {
  const generator = ['--conditions=deedwire-source', 'tools/generate/src/main.ts', 'reference'];
  await run(process.execPath, generator, { cwd: workspace.folder });
  const file = join(workspace.folder, 'docs/reference', path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

const guide = `2026-11-01-to-${scratch}.md`;

/** Starts the apps of the copy. */
async function startApps(): Promise<{ partnerUrl: string; stop(): Promise<void> }> {
  const system = await startSystem({
    workspace: workspace.folder,
    databaseUrls: await urlsOfApps(harness.database),
  });
  return { partnerUrl: `${system.apps['partner-api'].url}/partners/graphql`, stop: () => system.stop() };
}

interface GraphqlResponse {
  status: number;
  data?: Record<string, unknown>;
  errors?: { extensions: Record<string, unknown> }[];
}

async function send(
  url: string,
  version: string | null,
  query: string,
  variables: object = {},
): Promise<GraphqlResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...credentialHeaders(harness.accounts.partner.credential),
      ...(version !== null && { 'X-Service-Schema-Version': version }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await response.json()) as Omit<GraphqlResponse, 'status'>;
  return { status: response.status, ...body };
}

const subscribeMutation = `mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { code } }
}`;

async function subscribe(url: string, callbackUrl: string, version: string): Promise<unknown> {
  const input = { callbackUrl, eventTypes: [{ type: 'referral.declined', version }] };
  const { data } = await send(url, scratch, subscribeMutation, { input });
  return data?.['createWebhookSubscription'];
}

async function decline(): Promise<void> {
  const details = { clientName: 'Ada', clientEmail: null, externalReference: null, note: null };
  const partnerId = harness.accounts.partner.id;
  const { id: referralId } = await createReferralForPartner(harness.operator, { ...details, partnerId });
  await declineReferral(harness.operator, { referralId, reason: 'Outside of our area.' });
}

test(
  'adding a version takes only new files and one entry, and deprecating one a change of its entry',
  { timeout: 240_000 },
  async () => {
    const sdl = 'packages/partner-schema/versions';
    derive(`${sdl}/2026-11-01.graphql`, `${sdl}/${scratch}.graphql`, [
      /(type Partner \{[^}]*)\n  name: String!/,
      '$1\n  title: String!',
    ]);
    cpSync(
      join(workspace.folder, sdl, '2026-11-01.manifest.json'),
      join(workspace.folder, sdl, `${scratch}.manifest.json`),
    );
    edit('packages/partner-schema/versions.json', [
      /\n\}\s*$/,
      `,\n  "${scratch}": { "status": "preview", "deprecatedOn": null, "sunsetOn": null }\n}\n`,
    ]);
    derive(
      'apps/partner-api/src/versions/2026-11-01.ts',
      `apps/partner-api/src/versions/${scratch}.ts`,
      ...partnerWithTitle,
    );

    const events = 'packages/webhook-events/src';
    derive(
      `${events}/referral.declined/2026-11-01.ts`,
      `${events}/referral.declined/${scratch}.ts`,
      ["z.literal('2026-11-01')", `z.literal('${scratch}')`],
      ['        reason:', '        because:'],
    );
    listEventVersions({ '2026-11-01': deprecated, [scratch]: preview });
    derive(
      typical('2026-11-01'),
      typical(scratch),
      ['"version": "2026-11-01"', `"version": "${scratch}"`],
      ['"reason"', '"because"'],
    );
    const rendering = 'packages/webhook-rendering/src';
    derive(
      `${rendering}/referral.declined/2026-11-01.ts`,
      `${rendering}/referral.declined/${scratch}.ts`,
      [/\breason \}/g, 'because: reason }'],
      ['declinedAt, because: reason }:', 'declinedAt, reason }:'],
    );
    await build();

    const system = await startApps();
    const [older, newer] = [await startReceiver(), await startReceiver()];
    try {
      const name = 'Keystone Estate Agents';
      expect(await send(system.partnerUrl, scratch, '{ partner { title } }')).toEqual({
        status: 200,
        data: { partner: { title: name } },
        extensions: expect.any(Object),
      });
      expect(await send(system.partnerUrl, null, '{ partner { name } }')).toEqual({
        status: 200,
        data: { partner: { name } },
        extensions: expect.any(Object),
      });
      expect(await subscribe(system.partnerUrl, older.url, '2026-11-01')).toMatchObject({ userErrors: [] });
      expect(await subscribe(system.partnerUrl, newer.url, scratch)).toMatchObject({ userErrors: [] });
      await decline();
      const [[before], [after]] = [await older.waitFor(1), await newer.waitFor(1)];
      expect(JSON.parse(String(before?.body))).toMatchObject({
        version: '2026-11-01',
        data: { reason: 'Outside of our area.' },
      });
      expect(JSON.parse(String(after?.body))).toMatchObject({
        version: scratch,
        data: { because: 'Outside of our area.' },
      });
      expect(before?.headers).toMatchObject({
        deprecation: '@4039372800',
        sunset: 'Thu, 01 Jan 2099 00:00:00 GMT',
        link: expect.stringMatching(/^<https:.*>; rel="deprecation", <https:.*>; rel="sunset"$/),
      });
      expect(after?.headers).not.toHaveProperty('deprecation');
    } finally {
      await system.stop();
      await Promise.all([older.close(), newer.close()]);
    }
  },
);

test('the reference of a new version has an upgrade guide with the operation and the payload before and after', async () => {
  const examples = 'packages/partner-schema/examples';
  mkdirSync(join(workspace.folder, examples, scratch));
  derive(`${examples}/2026-11-01/partner.graphql`, `${examples}/${scratch}/partner.graphql`, [/\bname\b/, 'title']);
  derive(`${examples}/2026-11-01/partner.response.json`, `${examples}/${scratch}/partner.response.json`, [
    '"name"',
    '"title"',
  ]);

  const ofInterface = (await referencePage(`partner/${guide}`)) ?? '';
  expect(ofInterface).toMatch(/^\| `Partner\.name` +\| yes +\| The field was removed\. \|$/m);
  expect(ofInterface).toContain('Install `@deedwire/partner-schema` in its next release,');
  const [, operation = ''] = ofInterface.split('## query partner\n');
  expect(operation).toContain('Affected by the change of `Partner.name`.');
  expect(operation).toMatch(
    /At 2026-11-01:[^]*\bname\n[^]*"name": "[^]*At 2099-01-01:[^]*\btitle\n[^]*"title": "[^]*## Unchanged operations/,
  );
  expect(operation.split('At 2099-01-01:')[0]).not.toContain('title');

  const ofPayload = (await referencePage(`webhooks/referral.declined/${guide}`)) ?? '';
  expect(ofPayload).toContain('**Deprecated** on 2098-01-01. It is served unchanged until its sunset on 2099-01-01');
  expect(ofPayload).toMatch(/## Body before[^]*"reason"[^]*## Body after[^]*"because"/);
  expect(await referencePage('webhooks/referral.declined/2026-11-01.md')).toMatch(/^Deprecation: @4039372800$/m);
  expect(await referencePage(`webhooks/referral.declined/${scratch}.changelog.md`)).toMatch(
    /## Next release\n\nThe version was added\.\n$/,
  );
});

test('retiring the older version takes only deleting its files and its entry', { timeout: 240_000 }, async () => {
  for (const file of ['2026-11-01.graphql', '2026-11-01.manifest.json'])
    remove(`packages/partner-schema/versions/${file}`);
  edit('packages/partner-schema/versions.json', [/ {2}"2026-11-01": [^\n]*,\n/, '']);
  remove('apps/partner-api/src/versions/2026-11-01.ts');
  remove('packages/webhook-events/src/referral.declined/2026-11-01.ts');
  listEventVersions({ [scratch]: current });
  remove('packages/webhook-rendering/src/referral.declined/2026-11-01.ts');
  await build();
  for (const file of ['partner.graphql', 'partner.response.json'])
    remove(`packages/partner-schema/examples/2026-11-01/${file}`);
  // One version is left, so there is nothing to upgrade to.
  expect(await referencePage(`partner/${guide}`)).toBeNull();
  expect(await referencePage(`partner/${scratch}.md`)).not.toMatch(/upgrade from|Changes since/);
  expect(await referencePage('README.md')).not.toMatch(/\| partner interface +\|/);

  const system = await startApps();
  const receiver = await startReceiver();
  try {
    expect(await send(system.partnerUrl, scratch, '{ partner { title } }')).toMatchObject({ status: 200 });
    // The header and the pin of the client both name the retired version. No other version replaces it.
    for (const version of ['2026-11-01', null]) {
      expect(await send(system.partnerUrl, version, '{ partner { name } }')).toMatchObject({
        status: 400,
        errors: [{ extensions: { code: 'UNSUPPORTED_SCHEMA_VERSION', supportedVersions: [scratch] } }],
      });
    }
    expect(await subscribe(system.partnerUrl, receiver.url, '2026-11-01')).toMatchObject({
      userErrors: [{ code: 'EVENT_VERSION_UNKNOWN' }],
    });
  } finally {
    await system.stop();
    await receiver.close();
  }
});
