import { startPostgres } from '@deedwire/embedded-postgres';
/** `pnpm demo`: the whole path in front of one's eyes, in a temporary folder and on free ports, then nothing of it left. */
import { readConfig } from '@deedwire/service-runtime';
import { createStore, migrate } from '@deedwire/store';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { createAppLogins } from './app-logins.ts';
import { note, step, write } from './demo/narrator.ts';
import { walk, type DemoWorld } from './demo/walk.ts';
import { devConfig } from './dev-config.ts';
import { startReceiver } from './receiver.ts';
import { ensureOpenReferrals, seed } from './seed.ts';
import { startSystem } from './start-system.ts';

type Undo = () => Promise<void>;

/** Starts everything. What has been started is in `started`, also when a later part fails. */
async function build(started: Undo[]): Promise<DemoWorld> {
  const databaseUrl = await step('Start PostgreSQL in a temporary folder and migrate', async () => {
    const server = await startPostgres();
    started.push(() => server.stop());
    const { applied } = await migrate(server.url);
    note(`listening on port ${new URL(server.url).port}; migrations: ${applied.join(', ')}`);
    return server.url;
  });

  const { accounts, referralId } = await step('Seed organizations, accounts, credentials and referrals', async () => {
    const store = createStore({ databaseUrl, applicationName: 'deedwire-demo' });
    const context = { store, gidNamespace: 'service', notify: () => {} };
    const seeded = await seed(context);
    const referrals = await ensureOpenReferrals(context, seeded.partner.id);
    await store.close();
    note(`lender ${seeded.lender.id}, partner ${seeded.partner.id}, ${referrals.length} open referrals`);
    return { accounts: seeded, referralId: referrals[0] ?? '' };
  });

  const system = await step('Start the three apps, each a process of its own', async () => {
    // oxlint-disable-next-line node/no-process-env -- the one place where the demo reads it
    const { WEBHOOK_CALLBACK_POLICY } = readConfig(devConfig.pick({ WEBHOOK_CALLBACK_POLICY: true }), process.env);
    const running = await startSystem({
      databaseUrls: await createAppLogins(databaseUrl),
      env: { GID_NAMESPACE: 'service', WEBHOOK_CALLBACK_POLICY },
    });
    started.push(() => running.stop());
    for (const { name, url, pid } of Object.values(running.apps)) note(`${name.padEnd(14)}  ${url}  process ${pid}`);
    return running;
  });

  const webhookSecret = generateWebhookSecret();
  const receiver = await step('Start a sample receiver', async () => {
    const listening = await startReceiver(webhookSecret, (eventNumber) => (eventNumber === 1 ? 503 : 204));
    started.push(() => listening.close());
    note(`${listening.url}, which fails the first event it gets`);
    return listening;
  });
  return { system, databaseUrl, accounts, referralId, receiver, webhookSecret };
}

const startedAt = performance.now();
const started: Undo[] = [];
// What has been started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
try {
  await walk(await build(started));
  await step('Stop everything', async () => {
    for (const undo of started.splice(0).toReversed()) await undo();
  });
  write(`\nEverything as specified, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
} catch (error) {
  for (const undo of started.toReversed()) await undo().catch(() => {});
  process.stderr.write(`\nNOT AS SPECIFIED. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
