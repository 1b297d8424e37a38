import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSystem } from '@deedwire/dev-environment/firm/system';
import { createHarness, type Harness, urlsOfApps } from '@deedwire/dev-environment/test/firm/harness';
import { credentialHeaders, startReceiver, type Receiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { succeed } from '../../support/command.ts';
import { copyWorkspace, workspaceRoot, type WorkspaceCopy } from '../../support/workspace-copy.ts';

// Follows the recipes of CONTRIBUTING.md, as written, in a copy of this workspace. The tests build on each other.

// Guard against hanging only: the first test runs every check.
vi.setConfig({ testTimeout: 1_200_000, hookTimeout: 1_200_000 });

const contributing = readFileSync(join(workspaceRoot, 'CONTRIBUTING.md'), 'utf8');
const [section = ''] = /^## Recipes\n[^]*?(?=^## )/m.exec(contributing) ?? [];
const [news = ''] = blocksOf('sh');
const [verification = ''] = blocksOf('bash');
/** The changes of the recipe for a field: in which files, what is found there, and what replaces it. */
const diffs = Array.from(section.matchAll(/`([^`\n]+)`:\n\n```diff\n([^]*?)^```$/gm), ([, files = '', diff = '']) => ({
  files,
  before: diff.replaceAll(/^\+.*\n/gm, '').replaceAll(/^ /gm, ''),
  after: diff.replaceAll(/^[ +]/gm, ''),
}));
const version = '2027-06-01';

let workspace: WorkspaceCopy;
let harness: Harness;
let system: Awaited<ReturnType<typeof startSystem>> | undefined;
let receivers: Record<'lender' | 'partner', Receiver>;

beforeAll(async () => {
  workspace = await copyWorkspace({});
  harness = await createHarness();
  receivers = { lender: await startReceiver(), partner: await startReceiver() };
});

afterAll(async () => {
  await system?.stop();
  await Promise.all(Object.values(receivers).map((receiver) => receiver.close()));
  await harness.close();
  await workspace.remove();
});

async function send(name: 'lender' | 'partner', schemaVersion: string, query: string, variables: object = {}) {
  const response = await fetch(`${system?.apps[`${name}-api`].url}/${name}s/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Schema-Version': schemaVersion,
      ...credentialHeaders(harness.accounts[name].credential),
    },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors }: { data?: Record<string, unknown>; errors?: unknown } = JSON.parse(await response.text());
  expect(errors).toBeUndefined();
  return data;
}

/** Subscribes to an event type at the new version. */
async function subscribe(name: 'lender' | 'partner', schemaVersion: string, type: string): Promise<void> {
  const data = await send(
    name,
    schemaVersion,
    `mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { userErrors { code } }
    }`,
    { input: { callbackUrl: receivers[name].url, eventTypes: [{ type, version }] } },
  );
  expect(data).toEqual({ createWebhookSubscription: { userErrors: [] } });
}

function blocksOf(language: string): string[] {
  return Array.from(
    section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm')),
    ([, text = '']) => text,
  );
}

async function runBlock(commands: string): Promise<void> {
  await succeed('bash', ['-euo', 'pipefail', '-c', commands], { cwd: workspace.folder });
}

/** Runs a command of the operator program of the copy. */
async function operate(...args: string[]): Promise<Record<string, unknown>> {
  return operateWith(await harness.database.urlFor('operator'), ...args);
}

async function operateWith(databaseUrl: string, ...args: string[]): Promise<Record<string, unknown>> {
  const output = await succeed(
    process.execPath,
    ['--conditions=deedwire-source', 'apps/operator-cli/src/main.ts', ...args, '--json'],
    { cwd: workspace.folder, env: { DATABASE_URL: databaseUrl } },
  );
  return JSON.parse(output);
}

/** What the parser of the copy returns of a body. */
async function parse(body: string): Promise<unknown> {
  const script = `import { parseWebhookBody } from './packages/webhook-events/src/index.ts';
    process.stdout.write(JSON.stringify(parseWebhookBody(process.argv[1])));`;
  const args = ['--conditions=deedwire-source', '--input-type=module', '--eval', script, body];
  return JSON.parse(await succeed(process.execPath, args, { cwd: workspace.folder }));
}

/** The output of `pnpm check`, and the names of the checks that failed. */
async function runCheck(): Promise<{ output: string; failed: string[] }> {
  const output = await workspace.pnpm('check').catch(String);
  return { output, failed: Array.from(output.matchAll(/^FAILED (.+) \(.*\)$/gm), ([, name = '']) => name) };
}

test('`pnpm new` leaves TODOs that `pnpm check` lists, and nothing else', async () => {
  for (const command of news.trimEnd().split('\n')) {
    await runBlock(command);
    await workspace.commitAll(command);
  }
  const { output, failed } = await runCheck();
  expect(failed).toEqual(['TODOs']);
  expect(output).not.toContain('out of date');
  const todos = Array.from(output.matchAll(/^([^:\n]+):\d+:.*\bTODO\b/gm), ([, file]) => file);
  expect(todos).toEqual([
    `.changeset/lender.renamed-${version}.md`,
    `.changeset/matter.updated-${version}.md`,
    `.changeset/partner-${version}.md`,
    `.changeset/referral.declined-${version}.md`,
    `apps/partner-api/src/versions/${version}.ts`,
    `packages/firm/src/events/lender.renamed/${version}.ts`,
    ...Array<string>(2).fill('packages/firm/src/events/lender.renamed/event.ts'),
    `packages/firm/src/events/matter.updated/${version}.ts`,
    ...Array<string>(2).fill('packages/firm/src/events/matter.updated/event.ts'),
    `packages/firm/src/events/referral.declined/${version}.ts`,
    `packages/partner-schema/own/${version}.graphql`,
    `packages/webhook-events/src/lender.renamed/${version}.ts`,
    `packages/webhook-events/src/lender.renamed/${version}.ts`,
    `packages/webhook-events/src/matter.updated/${version}.ts`,
    `packages/webhook-events/src/matter.updated/${version}.ts`,
    `packages/webhook-events/src/referral.declined/${version}.ts`,
  ]);
});

/** Deletes the line of a TODO, or replaces it. */
async function writeTodo(path: string, line = ''): Promise<void> {
  await workspace.edit(path, (text) => text.replace(/^.*\bTODO\b.*\n/m, line));
}

test('the recipes lead to a tree that passes every check', async () => {
  const renamed = `lender.renamed/${version}`;
  const declined = `referral.declined/${version}`;
  const changesets = ['lender.renamed', 'matter.updated', 'partner', 'referral.declined'].map(
    (name) => `.changeset/${name}-${version}.md`,
  );
  for (const path of changesets) await writeTodo(path, 'A preview.\n');

  const payload = `packages/webhook-events/src/${renamed}.ts`;
  await writeTodo(
    payload,
    `lenderId: gid('Lender').describe("The lender's global identifier."), name: z.string().describe('The new name.'),\n`,
  );
  await workspace.edit(payload, (text) => text.replace('TODO: what happened.', 'The lender has another name.'));
  const renderer = `packages/firm/src/events/${renamed}.ts`;
  await writeTodo(renderer);
  await workspace.edit(renderer, (text) =>
    text.replace('{ todo }:', '{ lender }:').replace('{ todo }', '{ lenderId: lender.id, name: lender.name }'),
  );
  const definition = 'packages/firm/src/events/lender.renamed/event.ts';
  await writeTodo(definition);
  await writeTodo(definition, '  sample: (gidNamespace) => ({ lender: sampleLender(gidNamespace) }),\n');
  await workspace.edit(definition, (text) =>
    text
      .replace('record: null', "record: { type: 'Lender', id: ({ lender: { id } }) => id }")
      .replace('{ todo: z.string() }', '{ lender }')
      .replace(/(?<=from 'zod';\n)/, "import { lender, sampleLender } from '../parts.ts';\n"),
  );
  await workspace.edit('packages/firm/src/lender/update-lender.ts', (text) =>
    text
      .replace(
        /^.*import \{ lenderUpdated \}.*\n/m,
        (line) => `${line.replace('Updated', 'Renamed').replace('updated', 'renamed')}${line}`,
      )
      .replace(/^.*await appendEvent.*lenderUpdated.*$/m, (line) => `${line}\n${line.replace('Updated', 'Renamed')}`),
  );

  const updated = `matter.updated/${version}`;
  const matterPayload = `packages/webhook-events/src/${updated}.ts`;
  await writeTodo(matterPayload, `reference: z.string().describe('The reference of the matter after the change.'),\n`);
  await workspace.edit(matterPayload, (text) =>
    text.replace('TODO: what happened.', 'The reference of a matter was changed.'),
  );
  const matterRenderer = `packages/firm/src/events/${updated}.ts`;
  await writeTodo(matterRenderer);
  await workspace.edit(matterRenderer, (text) =>
    text.replace('({ todo }) => ({ todo })', '({ matter }) => ({ reference: matter.reference })'),
  );
  const definitionOfUpdate = 'packages/firm/src/events/matter.updated/event.ts';
  await writeTodo(definitionOfUpdate);
  await writeTodo(
    definitionOfUpdate,
    "  sample: (gidNamespace) => ({ matter: sampleMatter(gidNamespace), changed: ['matter.reference'] }),\n",
  );
  await workspace.edit(definitionOfUpdate, (text) =>
    text
      .replace('{ todo: z.string(), ', '{ matter, ')
      .replace('import { changed }', 'import { changed, matter, sampleMatter }'),
  );

  for (const path of [`packages/webhook-events/src/${declined}.ts`, `packages/firm/src/events/${declined}.ts`])
    await writeTodo(path);
  await workspace.edit(`packages/webhook-events/src/${declined}.ts`, (text) =>
    text.replace('reason:', 'declineReason:'),
  );
  await workspace.edit(`packages/firm/src/events/${declined}.ts`, (text) =>
    text.replace('reason };', 'declineReason: reason };'),
  );

  const schema = `apps/partner-api/src/versions/${version}.ts`;
  for (const path of [schema, `packages/partner-schema/own/${version}.graphql`]) await writeTodo(path);
  await workspace.edit(schema, (text) =>
    text
      .replaceAll('acceptAnyId', 'requireIdOfType')
      .replace("sequenceType: 'Int", "sequenceType: 'Long")
      .replace('eventsHaveId: true', 'eventsHaveId: false'),
  );
  // A later edition of what every interface has.
  await workspace.edit('packages/partner-schema/own/editions.json', (text) =>
    text.replace(`"${version}": "2026-11-01"`, `"${version}": "2027-02-01"`),
  );

  expect(diffs).toHaveLength(3);
  for (const { files, before, after } of diffs)
    for (const path of globSync(files, { cwd: workspace.folder }))
      await workspace.edit(path, (text) => text.replace(before, () => after));
  await workspace.writeChangeset('display-name', 'minor', '@deedwire/lender-schema');
  await workspace.writeChangeset('display-name-served', 'minor', '@deedwire/lender-api');

  await runBlock(verification);
  await workspace.pnpm('exec', 'vitest', 'run', '--project', 'unit', 'packages/firm', 'packages/webhook-rendering');
  expect(await workspace.git('diff', '--name-only', '--', '*/releases.json', '*.test.ts')).toBe('');
});

test('the apps serve the new version and the new field', async () => {
  // Registers the new events.
  await operateWith(harness.database.databaseUrl, 'database', 'migrate');
  system = await startSystem({
    workspace: workspace.folder,
    databaseUrls: await urlsOfApps(harness.database),
  });
  expect(await send('partner', version, '{ partner { name } }')).toEqual({
    partner: { name: 'Keystone Estate Agents' },
  });
  for (const served of ['2026-11-01', '2027-02-01'])
    expect(await send('lender', served, '{ lender { displayName } }')).toEqual({
      lender: { displayName: 'NORTHWIND BUILDING SOCIETY' },
    });
});

test('the worker renders the new event type and the new event version, and the parser knows them', async () => {
  await subscribe('lender', '2026-11-01', 'lender.renamed');
  await subscribe('partner', version, 'referral.declined');
  const { lender, partner } = harness.accounts;
  await operate('lender', 'update', lender.id, '--name', 'Harbour');
  const referral = await operate('referral', 'create', '--partner', partner.id, '--client-name', 'Ada');
  await operate('referral', 'decline', String(referral['id']), '--reason', 'Outside of our area.');

  const [[renamed], [declined]] = await Promise.all([receivers.lender.waitFor(1), receivers.partner.waitFor(1)]);
  expect(await parse(String(renamed?.body))).toMatchObject({
    kind: 'event',
    event: { type: 'lender.renamed', version, data: { lenderId: lender.id, name: 'Harbour' } },
  });
  expect(await parse(String(declined?.body))).toMatchObject({
    kind: 'event',
    event: { type: 'referral.declined', version, data: { declineReason: 'Outside of our area.' } },
  });
});

test('`pnpm check` names what a generator rejects, and skips the other checks', async () => {
  const payload = `packages/webhook-events/src/lender.renamed/${version}.ts`;
  await workspace.edit(payload, (text) => text.replace(' name: ', ' title: '));
  const { output, failed } = await runCheck();
  await workspace.edit(payload, (text) => text.replace(' title: ', ' name: '));
  expect(failed).toEqual(['generated files']);
  expect(output).toContain(
    `${payload} does not match the sample of the event, as its renderer renders it. Change one of them:\n  data.title: `,
  );
  expect(output).toContain('\nSkipped the other checks because a generator failed. Fix what it names.\n');
});

test('`pnpm check` rejects a generated file that was edited, and an app whose schema lacks a field of the SDL', async () => {
  const page = 'docs/reference/lender/2026-11-01.md';
  const composed = 'packages/lender-schema/versions/2026-11-01.graphql';
  const schema = 'apps/lender-api/src/schema/lender.ts';
  await workspace.edit(page, (text) => `${text}\nEdited.\n`);
  await workspace.edit(schema, (text) => text.replace(' name: t.', ' kind: t.'));
  const { output, failed } = await runCheck();
  await workspace.edit(page, (text) => text.replace('\nEdited.\n', ''));
  await workspace.edit(schema, (text) => text.replace(' kind: t.', ' name: t.'));
  expect(failed).toEqual(['generated files', 'served schemas']);
  // The remedy stands above what differs, and a newcomer can run it.
  expect(output).toMatch(
    new RegExp(`FAILED generated files \\(.*\\)\nRemedy: npx -y pnpm@[\\d.]+ generate\nout of date: ${page}\n`),
  );
  expect(output).toContain('Lender.name: The field is in the SDL, but not served');

  await workspace.edit(composed, (text) => text.replace('  isTest: Boolean!\n', '  isTest: Boolean\n'));
  const changed = await runCheck();
  await workspace.edit(composed, (text) => text.replace('  isTest: Boolean\n', '  isTest: Boolean!\n'));
  const note = `Remedy: ${composed} is composed: change packages/lender-schema/own/2026-11-01.graphql, or packages/webhook-contract/editions/2026-11-01.graphql, which reaches lender 2026-11-01, lender 2027-02-01, partner 2026-11-01, partner ${version}, customer 2026-11-01, supplier 2026-11-01 and supplier 2027-02-01.`;
  const failures = changed.output.split('FAILED ');
  for (const name of ['generated files', 'contracts'])
    expect(failures.find((failure) => failure.startsWith(name))).toContain(note);
});
