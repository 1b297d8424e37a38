import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startSystem } from '@deedwire/dev-environment/firm/system';
import { createHarness, urlsOfApps } from '@deedwire/dev-environment/test/firm/harness';
import { postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../../support/workspace-copy.ts';

// Retires a version of an interface and one of an event in a copy of this workspace. `recipes.test.ts` adds versions.

const retired = '2026-11-01';
const left = '2027-02-01';
const current = { status: 'current', deprecatedOn: null, sunsetOn: null };

const harness = await forFile(createHarness());
let workspace: WorkspaceCopy;
beforeAll(async () => {
  workspace = await copyWorkspace({});
}, 120_000);
afterAll(() => workspace.remove());

const remove = (path: string): Promise<void> => rm(join(workspace.folder, path));

async function generate(...generators: string[]): Promise<void> {
  const command = ['--conditions=deedwire-source', 'tools/generate/src/main.ts', ...generators];
  await succeed(process.execPath, command, { cwd: workspace.folder });
}

/** A page of the reference of the copy. Null if there is no such page. */
async function referencePage(path: string): Promise<string | null> {
  const file = join(workspace.folder, 'docs/reference', path);
  return existsSync(file) ? readFile(file, 'utf8') : null;
}

test('retiring a version takes only deleting its files and its entry', { timeout: 240_000 }, async () => {
  for (const path of [
    `packages/lender-schema/own/${retired}.graphql`,
    `packages/lender-schema/own/${retired}.manifest.json`,
    `packages/lender-schema/versions/${retired}.graphql`,
    `packages/lender-schema/versions/${retired}.manifest.json`,
    `apps/lender-api/src/versions/${retired}.ts`,
    `packages/webhook-events/src/referral.converted/${retired}.ts`,
    `packages/firm/src/events/referral.converted/${retired}.ts`,
  ])
    await remove(path);
  await workspace.edit('packages/lender-schema/versions.json', () => JSON.stringify({ [left]: current }));
  await workspace.edit('packages/lender-schema/own/editions.json', () => JSON.stringify({ [left]: left }));
  // A released version cannot use a preview.
  await workspace.edit('packages/webhook-contract/editions.json', (text) => text.replace('"preview"', '"current"'));
  await workspace.edit('packages/webhook-events/versions.json', (text) =>
    JSON.stringify({ ...JSON.parse(text), 'referral.converted': { [left]: current } }),
  );
  await generate('composed-contracts', 'schema-packages', 'payloads', 'served-versions');
  const apps = ['lender-api', 'partner-api', 'webhook-worker'];
  await workspace.pnpm('build', ...apps.map((app) => `--filter=@deedwire/${app}`));

  // One version is left, so there is nothing to upgrade to.
  const examples = 'packages/lender-schema/examples';
  const replaced = (file: string): boolean =>
    [file, file.replace(/\..*/, '.graphql')].some((each) => existsSync(join(workspace.folder, examples, left, each)));
  for (const file of (await readdir(join(workspace.folder, examples, retired))).filter(replaced))
    await remove(join(examples, retired, file));
  await generate('reference');
  expect(await referencePage(`lender/${retired}-to-${left}.md`)).toBeNull();
  expect(await referencePage(`lender/${left}.md`)).not.toMatch(/upgrade from|Changes since/);
  expect(await referencePage('README.md')).not.toMatch(/\| lender interface +\|/);

  const system = await startSystem({
    workspace: workspace.folder,
    databaseUrls: await urlsOfApps(harness.database),
  });
  onTestFinished(() => system.stop());
  const lenderUrl = `${system.apps['lender-api'].url}/lenders/graphql`;
  const ask = (version: string | null) =>
    postGraphql(lenderUrl, harness.accounts.lender.credential, {
      query: '{ lender { name } }',
      headers: version === null ? {} : { 'X-Service-Schema-Version': version },
    });
  expect(await ask(left)).toMatchObject({ status: 200 });
  // The header and the pin of the client both name the retired version. No other version replaces it.
  for (const version of [retired, null])
    expect(await ask(version)).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: 'UNSUPPORTED_SCHEMA_VERSION', supportedVersions: [left] } }] },
    });

  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const subscribed = await postGraphql(
    `${system.apps['partner-api'].url}/partners/graphql`,
    harness.accounts.partner.credential,
    {
      query: `mutation ($input: CreateWebhookSubscriptionInput!) {
        createWebhookSubscription(input: $input) { userErrors { code } } }`,
      variables: {
        input: { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.converted', version: retired }] },
      },
    },
  );
  expect(subscribed.body.data).toEqual({
    createWebhookSubscription: { userErrors: [{ code: 'EVENT_VERSION_UNKNOWN' }] },
  });
});
