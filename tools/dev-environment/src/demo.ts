/** `pnpm demo`: runs the whole flow in the terminal, in a temporary folder and on free ports, then removes everything. */
import { startPostgres } from '@deedwire/embedded-postgres';
import { readConfig } from '@deedwire/service-runtime';
import { createStore, migrate } from '@deedwire/store';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { alignColumns } from './align-columns.ts';
import { createAppLogins } from './app-logins.ts';
import { parseOptions, UsageError } from './command-line.ts';
import { startDemoReceiver } from './demo/demo-receiver.ts';
import { note, step, write } from './demo/narrator.ts';
import { createRequestRecorder } from './demo/request-recorder.ts';
import { walk, type DemoWorld } from './demo/walk.ts';
import { devConfig } from './dev-config.ts';
import { ensureOpenReferrals, seed, seedContext } from './seed.ts';
import { startSystem } from './start-system.ts';
import { fail, onReaderGone, print, readerGoneExitCode } from './terminal.ts';
import { packageManagerCommand } from './workspace.ts';

type Undo = () => Promise<void>;

/** Starts everything. Adds a function to `started` for each part, so that the caller can stop the parts after an error. */
async function build(started: Undo[]): Promise<DemoWorld> {
  const databaseUrl = await step('Start PostgreSQL in a temporary folder and migrate the database', async () => {
    const server = await startPostgres();
    started.push(() => server.stop());
    const { applied } = await migrate(server.url);
    note(`listening on port ${new URL(server.url).port}; ${applied.length} migrations applied`);
    return server.url;
  });

  const { accounts, referralId } = await step('Create organizations, accounts, credentials and referrals', async () => {
    const store = createStore({ databaseUrl, applicationName: 'deedwire-demo' });
    const context = seedContext(store, 'service');
    const seeded = await seed(context);
    const referrals = await ensureOpenReferrals(context, seeded.partner.id);
    await store.close();
    note(`lender ${seeded.lender.id}`);
    note(`partner ${seeded.partner.id} with ${referrals.length} open referrals`);
    return { accounts: seeded, referralId: referrals[0] ?? '' };
  });

  const system = await step('Start the three apps, each as a separate process', async () => {
    const { WEBHOOK_CALLBACK_POLICY } = readConfig(devConfig.pick({ WEBHOOK_CALLBACK_POLICY: true }), process.env);
    const running = await startSystem({
      databaseUrls: await createAppLogins(databaseUrl),
      env: { GID_NAMESPACE: 'service', WEBHOOK_CALLBACK_POLICY },
    });
    started.push(() => running.stop());
    const rows = Object.values(running.apps).map(({ name, url, pid }): [string, string] => {
      return [name, `process ${pid}, ${url ?? 'delivers the webhooks'}`];
    });
    for (const line of alignColumns(rows)) note(line);
    return running;
  });

  const webhookSecret = generateWebhookSecret();
  const received = createRequestRecorder();
  const receiver = await step('Start a sample receiver', async () => {
    const listening = await startDemoReceiver({
      secret: webhookSecret,
      statusOf: (eventNumber) => (eventNumber === 1 ? 503 : 204),
      onRequest: received.record,
    });
    started.push(() => listening.close());
    note(`${listening.url}; it responds 503 to its first event`);
    return listening;
  });
  return { system, databaseUrl, accounts, referralId, receiver, received, webhookSecret };
}

const next = [
  'What to try next:',
  ...alignColumns([
    [`${packageManagerCommand} dev`, 'keep this system running for your requests'],
    [`${packageManagerCommand} dev --receiver`, 'and print each webhook as it arrives'],
    ['docs/quickstart.md', 'receive and verify webhooks in your code'],
  ]).map((line) => `  ${line}`),
  'For another domain: packages contract-check, webhook-signing, webhook-receiver',
];

const command = `${packageManagerCommand} demo`;

const help = `Usage: ${command} [options]

Runs the whole flow in your terminal, in about ten seconds: starts PostgreSQL,
the three apps and a receiver, sends requests to both interfaces, converts a
referral, delivers its webhook and retries it, and checks each step. It uses a
temporary folder and free ports, and removes everything at the end.

Options:
  -h, --help  print this help

Environment:
  WEBHOOK_CALLBACK_POLICY  default development, which allows callback URLs on this machine
`;

async function demo(): Promise<void> {
  const startedAt = performance.now();
  const started: Undo[] = [];
  try {
    await walk(await build(started));
    await step('Stop everything', async () => {
      for (const undo of started.splice(0).toReversed()) await undo();
    });
    write(
      `\nEvery step behaved as specified. The demo took ${((performance.now() - startedAt) / 1000).toFixed(1)} s.\n`,
    );
    write(next.join('\n'));
  } catch (error) {
    for (const undo of started.toReversed()) await undo().catch(() => {});
    fail(
      `
NOT AS SPECIFIED. ${error instanceof Error ? error.message : String(error)}

The demo has stopped everything that it started. The output above ends with the step that failed.
To see the logs of the apps, run \`${packageManagerCommand} dev\` and repeat the step there.`,
      1,
    );
  }
}

// Every process that the demo started ends with this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
onReaderGone(() => process.exit(readerGoneExitCode));
try {
  const options = { help: { type: 'boolean', short: 'h', default: false } } as const;
  const values = parseOptions(command, options, process.argv.slice(2));
  if (values.help) print(help);
  else await demo();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  fail(error.message, 2);
}
