import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callOperator, startTestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { eventually, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test, vi } from 'vitest';
import { run } from '../../../../../packages/contract-check/src/cli/run.ts';
import * as operations from '../../../consumers/referral-portal/generated/2026-11-01.ts';
import { changeBuild } from '../../support/other-build.ts';
import { pullSettledDeliveries } from '../../support/pull.ts';
import { subscribe } from '../../support/subscribe.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// The apps of this build run, the operator exports the environment, and contract-check answers from the file.
// `long/can-i-deploy-pairs.test.ts` deploys more builds, in each order.

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
const t = await forFile(startTestSystem({ built: true }));
const { path: folder } = await forFile(temporaryFolder('can-i-deploy-system'));
const env = { DATABASE_URL: await t.database.urlFor('operator') };
const environment = join(folder, 'test.json');
const contracts = (app: string): string => join(workspaceRoot, `apps/${app}/dist/contracts.json`);

async function ask(command: string, ...args: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  expect(await callOperator(env, 'environment', 'export', '--name', 'test', '--out', environment)).toMatchObject({
    exitCode: 0,
  });
  return run([command, '--root', folder, '--environment', environment, '--name', 'test', ...args]);
}

test('the builds that run fit each other', async () => {
  await eventually(async () =>
    expect(await ask('can-i-deploy', '--build', contracts('lender-api'))).toMatchObject({ exitCode: 0, stderr: '' }),
  );
  for (const app of ['partner-api', 'webhook-worker', 'operator-cli'])
    expect(await ask('can-i-deploy', '--build', contracts(app))).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('webhook-worker'),
    });
  const { version } = JSON.parse(readFileSync(contracts('lender-api'), 'utf8'));
  expect(
    await ask('can-i-deploy', '--build', contracts('partner-api'), '--rollback', `lender-api@${version}`),
  ).toMatchObject({ exitCode: 0 });
});

test('a worker that lacks a version is refused, and what it cannot send waits for one that has it', async () => {
  const less = await changeBuild(folder, ['webhook-worker'], {
    'packages/webhook-events/dist/generated/registry.js': (text) =>
      text.replace(/ {4}\{\n {8}type: 'referral\.declined',[^]*?\n {4}\},\n/, ''),
    'packages/firm/dist/generated/events.js': (text) => text.replace(/ {4}withRenderers\(referralDeclined, .*\n/, ''),
  });
  expect(await ask('can-i-deploy', '--build', less.contractsOf('webhook-worker'))).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('would wait'),
  });

  const receiver = await forTest(startReceiver());
  const eventType = 'referral.declined';
  const { id } = await subscribe(t.partner, { callbackUrl: receiver.url, eventTypes: [{ type: eventType }] });
  await t.system.apps['webhook-worker'].stop();
  const other = await t.system.add('webhook-worker', {}, less.folder);
  await t.partner.request(operations.SendTestDocument, { input: { subscriptionId: id, eventType } });
  await eventually(async () =>
    expect(await t.sql('select from webhook_event_queue where blocked_on = $1', [eventType])).toHaveLength(1),
  );
  await other.stop();
  await t.system.add('webhook-worker');
  expect(await pullSettledDeliveries(t.partner, id, 1)).toMatchObject([{ status: 'DELIVERED' }]);
});
