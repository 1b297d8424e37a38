import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOperator, startTestSystem, type TestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { startPostgres } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { migrate } from '@deedwire/store';
import { eventually } from '@deedwire/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { run } from '../../../../../packages/contract-check/src/cli/run.ts';
import buildWorkspace from '../../support/built-workspace.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';
import { checkOutLastRelease } from '../support/last-release.ts';

// The builds of this tree are asked about while apps of a release run.

const apps = ['lender-api', 'partner-api', 'webhook-worker'] as const;
const folder = mkdtempSync(join(tmpdir(), 'can-i-deploy-releases-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => buildWorkspace());

/** Asks about the builds of this tree, all at once. */
async function ask(t: TestSystem) {
  const environment = join(folder, 'test.json');
  const env = { DATABASE_URL: await t.database.urlFor('operator') };
  expect(await callOperator(env, 'environment', 'export', '--name', 'test', '--out', environment)).toMatchObject({
    exitCode: 0,
  });
  const builds = apps.flatMap((app) => ['--build', join(workspaceRoot, `apps/${app}/dist/contracts.json`)]);
  const args = ['--root', folder, '--environment', environment, '--format', 'json', ...builds];
  const { exitCode, stdout } = await run(['can-i-deploy', ...args]);
  const { findings, checkedAgainst } = JSON.parse(stdout);
  const messages = findings.map(({ message }: { message: string }) => message.replace(/seen \d+ s/, 'seen'));
  return { exitCode, checkedAgainst, messages };
}

test('each answer names the apps of the previous release that registered no contracts, and checks against those that did', async () => {
  const release = await checkOutLastRelease();
  onTestFinished(() => release.remove());
  const server = await startPostgres();
  const t = await startTestSystem({
    workspace: release.folder,
    server,
    apply: (url) => release.migrate(url),
    seeding: await release.seeding(),
  });
  onTestFinished(() => t.close());
  await migrate(server.url, firm);
  const names = apps.map((app) => {
    const { version } = JSON.parse(readFileSync(join(release.folder, `apps/${app}/package.json`), 'utf8'));
    return `${app} ${version} (test, seen`;
  });
  // Sources have no contracts.
  const messages = names.map((name) => `${name} ago) did not register its build.`);
  await eventually(async () => expect(await ask(t)).toMatchObject({ exitCode: 3, messages }));

  await release.build();
  for (const app of apps) {
    await t.system.apps[app].stop();
    await t.system.add(app, {}, release.folder, true);
  }
  // Whether it fits depends on what this tree changes.
  await eventually(async () => {
    const { exitCode, checkedAgainst } = await ask(t);
    expect([0, 1]).toContain(exitCode);
    expect(checkedAgainst).toEqual(names.map((name) => expect.stringContaining(name)));
  });
});
