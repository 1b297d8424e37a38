import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { interfaceNames } from '@deedwire/firm';
import { findProgram } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { createDevHome, type DevHome } from '../dev-process.ts';

const read = (path: string): string => readFileSync(join(workspaceRoot, path), 'utf8');
const page = read('docs/quickstart.md');
/** What `pnpm receiver` runs. */
const receiverScript: string = JSON.parse(read('package.json')).scripts.receiver;
/** The shell blocks of the page, in order. The last one starts `dev` in a script: `long/dev-ends.test.ts` runs it. */
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
const [
  devBlock = '',
  nodeBlock = '',
  pythonBlock = '',
  subscribeBlock = '',
  testBlock = '',
  eventBlock = '',
  forgedBlock = '',
  listBlock,
] = blocks;

const inherited = process.env;
const withoutPython = findProgram('python3') === undefined && inherited['CI'] !== 'true';
if (withoutPython) process.stdout.write('dev-environment: no python3 on the PATH, its receiver is not tested\n');

const nodeReceiver = { name: 'Node', file: 'examples/receiver-node/server.mjs', block: nodeBlock };
const pythonReceiver = { name: 'Python', file: 'examples/receiver-python/receiver.py', block: pythonBlock };
const receivers = [
  {
    ...nodeReceiver,
    skipped: false,
    listening: 'Listening on port ',
    handshake: '200 HANDSHAKE\n',
    printed: (referralId: string) => `referral.created ${referralId}\n200 PROCESSED\n`,
  },
  {
    ...pythonReceiver,
    skipped: withoutPython,
    listening: 'Listening on http://127.0.0.1:',
    handshake: 'Answered the handshake.\n',
    printed: (referralId: string) => `"referralId": "${referralId}"`,
  },
];

/** In the pages, the kit is installed; here it runs from its sources. */
const kitCommand = 'npx --no-install @deedwire/webhook-receiver';
const kitSource = '"$NODE" --conditions=deedwire-source packages/webhook-receiver/src/bin.ts';

interface Command {
  child: ChildProcess;
  output: () => string;
  /** Resolves with the exit code when the command and its output have ended. */
  ended: Promise<number | null>;
}

/** Runs a block of the page in a shell, from the root of the workspace. Ends it with the test. */
function run(block: string, env: Record<string, string> = {}): Command {
  const child = spawn('sh', ['-c', block], {
    cwd: workspaceRoot,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, NODE: process.execPath, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close').then(() => child.exitCode);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  });
  return { child, output: () => output, ended };
}

/** Starts a receiver and waits until its port accepts connections. */
async function startReceiver(block: string, env: Record<string, string> & { PORT: string }): Promise<Command> {
  const receiver = run(block, env);
  const listening = vi.waitFor(() => fetch(`http://127.0.0.1:${env.PORT}/`), { timeout: 240_000 });
  const ended = receiver.ended.then(() => Promise.reject(new Error(`The receiver ended:\n${receiver.output()}`)));
  await Promise.race([listening, ended]);
  ended.catch(() => {});
  return receiver;
}

test('the page has the blocks that are run below', () => {
  expect(blocks).toHaveLength(9);
  expect(devBlock).toBe(/^npx -y pnpm@[\d.]+ dev\n/m.exec(read('README.md'))?.[0]);
  expect(nodeBlock).toMatch(/^\. \.local\/dev\.env\nnpx -y pnpm@[\d.]+ receiver\n$/);
  expect(receiverScript).toContain(nodeReceiver.file);
  expect(page).toContain(`\`\`\`js\n${read(nodeReceiver.file)}\`\`\`\n`);
  expect(pythonBlock).toBe('. .local/dev.env\npython3 examples/receiver-python/receiver.py\n');
});

// Both receivers use one system, because a start takes some seconds of CPU time.
let home: DevHome;
beforeAll(async () => {
  home = await createDevHome({ interfaceNames });
  await home.whenReady(home.start());
  return () => home.remove();
});
let receiversSoFar = 0;

describe.each(receivers)('the receiver in $name', ({ file, block, skipped, listening, handshake, printed }) => {
  test('is linked from the page', () => {
    expect(page).toContain(`](../${file})`);
  });

  test.skipIf(skipped)('receives a webhook when the blocks of the page are run in order', async () => {
    receiversSoFar += 1;
    const port = String(await findFreePort());
    const env = { DEEDWIRE_HOME: home.path, PORT: port, DATABASE: join(home.path, 'webhooks.db') };
    /** The block with the home and the port of this test, and without `npx`, which needs a network. */
    const adapt = (text: string): string =>
      text
        .replaceAll('.local/', `${home.path}/`)
        .replaceAll('127.0.0.1:4005', `127.0.0.1:${port}`)
        .replace(/^npx -y pnpm@[\d.]+ receiver/m, receiverScript.replace('node', '"$NODE"'))
        .replace(/^npx -y pnpm@[\d.]+ operator/m, '"$NODE" --conditions=deedwire-source apps/operator-cli/src/main.ts');
    const receiver = await startReceiver(adapt(block), env);
    await expect.poll(receiver.output).toContain(`${listening}${env.PORT}`);

    // The third terminal of the page keeps the variables that this block loads.
    const thirdTerminal = (text: string): Command => run(adapt(`. .local/dev.env\n${text}`), env);
    const subscribing = run(adapt(subscribeBlock), env);
    expect(await subscribing.ended).toBe(0);
    const subscription = { id: expect.stringContaining('/WebhookSubscription/'), status: 'ACTIVE' };
    expect(JSON.parse(subscribing.output())).toEqual({
      data: { createWebhookSubscription: { webhookSubscription: subscription, userErrors: [] } },
      extensions: expect.any(Object),
    });
    // As the page says.
    expect(subscribing.output().trim().split('\n')).toHaveLength(1);
    expect(receiver.output()).toContain(handshake);

    const { id } = JSON.parse(subscribing.output()).data.createWebhookSubscription.webhookSubscription;
    const testing = thirdTerminal(testBlock.replace(/gid:\/\/service\/WebhookSubscription\/\d+/, id));
    expect(await testing.ended).toBe(0);
    expect(JSON.parse(testing.output()).data).toEqual({
      sendTestWebhookEvent: { webhookEventId: expect.stringContaining('/WebhookEvent/'), userErrors: [] },
    });
    await expect.poll(receiver.output).toContain(printed('gid://service/Referral/4711'));

    const creating = thirdTerminal(eventBlock);
    expect(await creating.ended).toBe(0);
    const [referralId = 'none'] = /gid:\/\/service\/Referral\/\d+/.exec(creating.output()) ?? [];
    await expect.poll(receiver.output).toContain(printed(referralId));

    const forging = thirdTerminal(forgedBlock);
    expect(await forging.ended).toBe(0);
    expect(forging.output()).toMatch(/^HTTP\/1\.[01] 401 /);

    const listing = thirdTerminal(listBlock ?? '');
    expect(await listing.ended).toBe(0);
    expect(listing.output().match(/DELIVERED +referral\.created /g)).toHaveLength(
      // The test event, and the referral.
      2 * receiversSoFar,
    );
  });
});

/** The blocks of a page for somebody who has an account. The first sets the credentials: those of the home, in the test. */
function accountPage(path: string, envFile: string) {
  const [, ...ofPage] = [...read(path).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  /** Runs blocks in one shell, as a reader does. Resolves with what they print. */
  const print = async (...texts: readonly string[]): Promise<string> => {
    const command = run([`. ${home.path}/${envFile}`, ...texts].join('\n'));
    expect(await command.ended).toBe(0);
    return command.output();
  };
  return { blocks: ofPage, print };
}

/** Runs `listen` of the page of a partner, with the credentials of a file. Resolves when it sends to the server. */
async function listenTo(block: string, envFile: string, env: { WEBHOOK_SECRET: string; PORT: string }): Promise<void> {
  const command = block.replace(kitCommand, kitSource).replace('4005', env.PORT);
  const listening = run(`. ${home.path}/${envFile}\nWEBHOOK_SECRET=${env.WEBHOOK_SECRET}\n${command}`, {
    XDG_STATE_HOME: home.path,
  });
  await expect.poll(listening.output).toContain('Ready: ');
}

describe('a partner with a URL and a key', () => {
  test('reads the event of a referral, and receives the next one as a signed webhook', async () => {
    const { blocks: ofPage, print } = accountPage('docs/partner-quickstart.md', 'dev.env');
    const [define = '', query = '', listen = '', create = '', events = '', install = '', serve = '', send = ''] =
      ofPage;
    expect(ofPage).toHaveLength(8);
    expect(JSON.parse(await print(define, query)).data.partner.id).toContain('/Partner/');
    const listening = await print(define, listen);
    const { webhookListener, userErrors } = JSON.parse(listening).data.createWebhookListener;
    expect(userErrors).toEqual([]);
    const { referral } = JSON.parse(await print(define, create)).data.createReferral;
    expect(referral).toEqual({ id: expect.stringContaining('/Referral/'), status: 'OPEN' });
    // Sent again, as the page says.
    expect(JSON.parse(await print(define, create)).data.createReferral).toEqual({ referral, userErrors: [] });
    const reading = await print(define, events.replace(/gid:\/\/service\/WebhookListener\/\d+/, webhookListener.id));
    const { edges, lastSequence } = JSON.parse(reading).data.webhookEvents;
    expect(edges).toMatchObject([{ sequence: 1, node: { type: 'referral.created', version: '2026-11-01' } }]);
    expect(lastSequence).toBe(1);
    expect(JSON.parse(edges[0].node.payload).data).toEqual({
      referralId: referral.id,
      externalReference: 'CRM-2026/1',
    });

    // `tools/contract-tests/test/full/installed-receiver-command.test.ts` installs the files.
    expect(install.match(/-webhook-(signing|events|receiver)-/g)).toHaveLength(3);
    const port = await findFreePort();
    const secret = await print(
      serve.replace('node server.mjs', 'echo "$WEBHOOK_SECRET"').replace(kitCommand, kitSource),
    );
    const env = { WEBHOOK_SECRET: secret.trim(), PORT: String(port) };
    const server = await startReceiver(receiverScript.replace('node', '"$NODE"'), env);
    await listenTo(send, 'dev.env', env);
    const next = JSON.parse(await print(define, create.replaceAll('CRM-2026/1', 'CRM-2026/2'))).data.createReferral;
    await expect.poll(server.output).toContain(`referral.created ${next.referral.id}\n200 PROCESSED\n`);
  });
});

describe('a lender with a URL and a key', () => {
  test('reads its team, pins versions, and receives a test event as a signed webhook', async () => {
    const { blocks: ofPage, print } = accountPage('docs/lender-quickstart.md', 'lender.env');
    const [define = '', team = '', pin = '', listen = '', send = '', events = '', listeners = ''] = ofPage;
    expect(ofPage).toHaveLength(7);
    const [member] = JSON.parse(await print(define, team)).data.lender.members;
    expect(Object.keys(member)).toEqual(['id', 'firstName', 'lastName', 'email']);
    expect(await print(define, pin)).toMatch(/^x-service-schema-version: 2026-11-01\r$/im);
    const { webhookListener, userErrors } = JSON.parse(await print(define, listen)).data.createWebhookListener;
    expect(userErrors).toEqual([]);
    const [setId = ''] = /^LISTENER_ID=.*$/m.exec(send) ?? [];
    const sendTo = async (id: string): Promise<unknown> =>
      JSON.parse(await print(define, send.replace(setId, `LISTENER_ID=${id}`))).data.sendTestWebhookEvent.userErrors;
    expect(await sendTo(webhookListener.id)).toEqual([]);
    const reading = await print(define, `LISTENER_ID=${webhookListener.id}`, events);
    expect(JSON.parse(reading).data.webhookEvents.edges).toMatchObject([
      { sequence: 1, node: { type: 'team_member.added', version: '2026-11-01' } },
    ]);

    const lenderPage = read('docs/lender-quickstart.md');
    const [, handler = ''] = /^```js\n(.*?)^```$/ms.exec(lenderPage) ?? [];
    const program = read(nodeReceiver.file).replace(/(?<= {2}on: \{\n).*?(?=^ {2}\},$)/ms, handler);
    expect(program).toContain('data.teamMember.id');
    const file = join(home.path, 'server.mjs');
    await writeFile(file, program);
    const env = { WEBHOOK_SECRET: generateWebhookSecret(), PORT: String(await findFreePort()) };
    const command = receiverScript.replace('node', '"$NODE"').replace(/< \S+$/, `< "${file}"`);
    const server = await startReceiver(command, env);
    const [, listenToServer = ''] =
      /^```sh\n(\S+ \S+ \S+ listen .*?)^```$/ms.exec(read('docs/partner-quickstart.md')) ?? [];
    await listenTo(listenToServer, 'lender.env', env);
    const [first] = JSON.parse(await print(define, listeners)).data.webhookListeners;
    expect(await sendTo(first.id)).toEqual([]);
    const [printed = ''] = /^team_member\.added gid.*\n200 PROCESSED\n/m.exec(lenderPage) ?? [];
    expect(printed).not.toBe('');
    await expect.poll(server.output).toContain(printed);
  });
});

// `tools/contract-tests/test/full/installed-receiver-command.test.ts` grades it, and `verify-examples.test.ts` has what it verifies.
test.skipIf(withoutPython)('the receiver in Python does not start without a secret', async () => {
  const receiver = run(pythonBlock.split('\n').slice(1).join('\n'), { WEBHOOK_SECRET: '', PORT: '0' });
  expect(await receiver.ended).toBe(1);
  expect(receiver.output()).toContain('WEBHOOK_SECRET is not set.');
});
