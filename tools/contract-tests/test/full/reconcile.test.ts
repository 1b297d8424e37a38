import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createHarness, type Harness } from '@deedwire/dev-environment/firm-harness';
import { compileCache, eventually, missing, postGraphql, receiverKitBlock } from '@deedwire/testing';
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { Pool } from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { kill, receiverDatabase, reconcileLossyPush } from '../support/receiver-kit/lossy-push.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

let t: Harness;
let url: string;

beforeEach(async () => {
  t = await createHarness();
  const service = await t.startPartnerApi();
  await service.whenReady;
  url = `${service.url}/partners/graphql`;
  await t.startWorker();
});

afterEach(() => t.close());

async function call(query: string, variables: object): Promise<Record<string, unknown>> {
  const { body } = await postGraphql(url, t.accounts.partner.credential, { query, variables });
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data ?? missing();
}

/** A project in which the kit and pg are installed. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  const kit = join(workspaceRoot, 'packages/webhook-receiver');
  await symlink(kit, join(folder, 'node_modules/@deedwire/webhook-receiver'), 'dir');
  await symlink(join(kit, '../webhook-events'), join(folder, 'node_modules/@deedwire/webhook-events'), 'dir');
  await symlink(join(kit, 'node_modules/pg'), join(folder, 'node_modules/pg'), 'dir');
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

/** `KILLS=25` is a longer run. */
const kills = Number(process.env['KILLS'] ?? 2);

test('of pushes of which a proxy loses 5 %, reconcile finds exactly those while push goes on and the receiver is killed', async () => {
  const { database, subscription, all, lost, pulled } = await reconcileLossyPush(t, url, {
    events: 120,
    kills,
    killAfterMs: (round) => 150 * (1 + (round % 10)),
  });
  const { credential: credentials } = t.accounts.partner;

  const pool = new Pool({ connectionString: database.databaseUrl });
  onTestFinished(() => pool.end());
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    store: postgresStore(pool),
    on: { 'referral.created': { '2026-11-01': () => {} } },
  });
  const pull = graphqlPull({ prefix: 'X-Service', url, credentials, subscriptionId: subscription.id });
  expect(await receiver.reconcile(pull)).toMatchObject({
    end: 'complete',
    processed: 0,
    watermark: all,
    lastSequence: all,
    held: [],
    givenUp: [],
  });

  // What reading costs: 10,000 events within 60 s of a bucket of 2,000 points, which gets 200 a second, and of which a page needs 500.
  let points = 0;
  const priced = graphqlPull({
    prefix: 'X-Service',
    url,
    credentials,
    subscriptionId: subscription.id,
    async fetch(address, init) {
      const response = await fetch(address, init);
      const { extensions }: { extensions: { cost: { actualQueryCost: number } } } = JSON.parse(
        await response.clone().text(),
      );
      points += extensions.cost.actualQueryCost;
      return response;
    },
  });
  expect(await receiver.reconcile(priced, { from: 'earliest' })).toMatchObject({
    end: 'complete',
    seen: 0,
    watermark: all,
  });
  const seconds = ((points / all) * 10_000 + 500 - 2_000) / 200;
  process.stdout.write(
    `An event costs ${(points / all).toFixed(2)} points: 10,000 need ${seconds.toFixed(1)} s of the bucket\n`,
  );
  expect(seconds).toBeLessThan(60);

  // The block of the README for receivers of requests, whose first run is now.
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'regularly.ts'), receiverKitBlock('reconcileRegularly'));
  await writeFile(
    join(folder, 'run.mjs'),
    `import * as events from '@deedwire/webhook-events';
    import { createWebhookReceiver } from '@deedwire/webhook-receiver';
    import { postgresStore } from '@deedwire/webhook-receiver/postgres';
    import { Pool } from 'pg';
    import { reconcileRegularly } from './regularly.ts';
    const { setInterval } = globalThis;
    globalThis.setInterval = (run) => {
      globalThis.setInterval = setInterval;
      return run();
    };
    const pool = new Pool({ connectionString: process.env.DATABASE_URL });
    await reconcileRegularly(createWebhookReceiver({ events, prefix: 'X-Service', store: postgresStore(pool), on: {} }));
    await pool.end();`,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=deedwire-source', join(folder, 'run.mjs')],
    {
      env: {
        DATABASE_URL: database.databaseUrl,
        DEEDWIRE_URL: url,
        HEADER_PREFIX: 'X-Service',
        SUBSCRIPTION_ID: subscription.id,
        CLIENT_ID: credentials.clientId,
        API_KEY: credentials.apiKey,
        ORGANIZATION_ID: credentials.organizationId,
        ...compileCache,
      },
    },
  );
  expect(stdout).toBe(`Requests missed 0 events. All up to ${all} of ${all} are processed.\n`);
  process.stdout.write(
    `Of ${all} events, the proxy lost ${lost.size}, and reconcile processed ${pulled.length}, under ${kills} kills\n`,
  );
});

test('the program for a partner without a public URL has each event once, killed and offline for a day', async () => {
  const database = await receiverDatabase('create table referral (id text primary key)');
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'pull.mjs'), receiverKitBlock('LISTENER_ID'));

  const { createWebhookListener } = await call(
    `mutation { createWebhookListener(input: { eventTypes: [{ type: "referral.created", version: "2026-11-01" }] }) {
      webhookListener { id } userErrors { code message } } }`,
    {},
  );
  const { webhookListener } = createWebhookListener as { webhookListener: { id: string } };
  const { clientId, apiKey, organizationId } = t.accounts.partner.credential;
  const env = {
    DATABASE_URL: database.databaseUrl,
    DEEDWIRE_URL: url,
    HEADER_PREFIX: 'X-Service',
    LISTENER_ID: webhookListener.id,
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
