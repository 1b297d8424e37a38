import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { compileCache, receiverKitBlock } from '@deedwire/testing';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { Pool } from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import * as events from '../support/order-events.ts';
import { createKitProject } from '../support/receiver-kit/kit-project.ts';
import { reconcileLossyPush } from '../support/receiver-kit/lossy-push.ts';

let t: Harness;
let url: string;

beforeEach(async () => {
  t = await createHarness();
  const service = await t.startApi('customer');
  await service.whenReady;
  url = `${service.url}/customer/graphql`;
  await t.startWorker();
});

afterEach(() => t.close());

/** `KILLS=25` is a longer run. */
const kills = Number(process.env['KILLS'] ?? 2);

test('of pushes of which a proxy loses 5 %, reconcile finds exactly those while push goes on and the receiver is killed', async () => {
  const { database, subscription, all, lost, pulled } = await reconcileLossyPush(t, url, {
    events: 120,
    kills,
    killAfterMs: (round) => 150 * (1 + (round % 10)),
  });
  const { credential: credentials } = t.accounts.customer;

  const pool = new Pool({ connectionString: database.databaseUrl });
  onTestFinished(() => pool.end());
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    store: postgresStore(pool),
    on: { 'order.placed': { '2026-11-01': () => {} } },
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
  const folder = await createKitProject();
  await writeFile(join(folder, 'regularly.ts'), receiverKitBlock('reconcileRegularly'));
  await writeFile(
    join(folder, 'run.mjs'),
    `import * as events from ${JSON.stringify(import.meta.resolve('../support/order-events.ts'))};
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
