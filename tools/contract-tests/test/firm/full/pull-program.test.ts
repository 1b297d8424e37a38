import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWebhookListener } from '@deedwire/actions';
import { createHarness } from '@deedwire/dev-environment/test/firm/harness';
import { compileCache, eventually, missing, receiverKitBlock } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { createKitProject } from '../../support/receiver-kit/kit-project.ts';
import { kill, receiverDatabase } from '../../support/receiver-kit/lossy-push.ts';

test('the program for a partner without a public URL has each event once, killed and offline for a day', async () => {
  const t = await forTest(createHarness());
  const { partner } = t.accounts;
  const api = await t.startPartnerApi();
  await api.whenReady;
  await t.startWorker();
  const database = await receiverDatabase('create table referral (id text primary key)');
  const folder = await createKitProject();
  await writeFile(join(folder, 'pull.mjs'), receiverKitBlock('LISTENER_ID'));

  const { webhookListener } = await createWebhookListener(t.partnerApi, partner, {
    eventTypes: [{ type: 'referral.created' }],
  });
  const { clientId, apiKey, organizationId } = partner.credential;
  const env = {
    DATABASE_URL: database.databaseUrl,
    DEEDWIRE_URL: `${api.url}/partners/graphql`,
    HEADER_PREFIX: 'X-Service',
    LISTENER_ID: webhookListener?.id ?? missing(),
    CLIENT_ID: clientId,
    API_KEY: apiKey,
    ORGANIZATION_ID: organizationId,
    ...compileCache,
  };
  const printed: string[] = [];
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ['--conditions=deedwire-source', join(folder, 'pull.mjs')], {
      env,
      stdio: 'pipe',
    });
    child.stderr?.on('data', (chunk: Buffer) => void printed.push(chunk.toString()));
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const handled = async (): Promise<string[]> =>
    (await database.run('select id from referral')).map(({ id }) => String(id));
  const referrals: string[] = [];
  for (let round = 1; round <= 2; round += 1) {
    referrals.push(...(await t.refer(20)));
    const child = start();
    await eventually(async () => expect((await handled()).length).toBeGreaterThan(referrals.length - 15), 60_000);
    await kill(child);
    // After the lease of the program, which is that of the kit.
    await database.run(`update webhook_receipt_pull set held_until = held_until - interval '15 seconds'`);
  }
  // Offline for a day: what both sides have stored is a day older, except that the listener was read less than a day ago.
  await database.run(`update webhook_receipt_pull set held_until = held_until - interval '1 day'`);
  await database.run(`update webhook_receipt set received_at = received_at - interval '1 day'`);
  await t.sql(
    `update webhook_subscription set last_read_at = last_read_at - interval '23 hours 50 minutes' where kind = 'LISTENER'`,
  );
  referrals.push(...(await t.refer(30)));
  const child = start();
  await eventually(async () => expect(await handled()).toHaveLength(referrals.length), 60_000);
  // It waits for the next one.
  referrals.push(...(await t.refer(1)));
  await eventually(async () => expect(await handled()).toHaveLength(referrals.length), 60_000);
  await kill(child);
  expect((await handled()).toSorted()).toEqual(referrals.toSorted());
  // A second effect would violate the primary key, and be logged. So is each kill of a handler.
  const killed = /^PROCESS_ENDED: The process ended while it handled the event \d+\. \{[^}]*\}\n/gm;
  expect(printed.join('').replaceAll(killed, '')).toBe('');
});
