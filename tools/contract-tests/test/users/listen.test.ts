import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createHarness } from '@deedwire/dev-environment/harness';
import { eventually, missing, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';

const harness = await forFile(createHarness());
let api = await harness.startPartnerApi();
await api.whenReady;
// It gives events their sequence.
await harness.startWorker();
const port = Number(new URL(api.url).port);
const url = `${api.url}/partners/graphql`;
const { credential } = harness.accounts.partner;
const folder = await mkdtemp(join(tmpdir(), 'deedwire-listen-'));
await forFile({ close: () => rm(folder, { recursive: true }) });
const bin = fileURLToPath(new URL('../../../../packages/webhook-receiver/src/bin.ts', import.meta.url));

async function request<Data>(query: string, variables: object = {}): Promise<Data> {
  const { body } = await postGraphql<Data>(url, credential, { query, variables });
  return body.data ?? missing();
}

/** The account has one listener. */
async function deleteListeners(): Promise<void> {
  const { webhookListeners } = await request<{ webhookListeners: { id: string }[] }>('{ webhookListeners { id } }');
  const mutation = `mutation ($input: DeleteWebhookListenerInput!) { deleteWebhookListener(input: $input) { deletedWebhookListenerId } }`;
  for (const { id } of webhookListeners) await request(mutation, { input: { id } });
}

async function sendEvents(count: number): Promise<void> {
  const { webhookListeners } = await request<{ webhookListeners: { id: string }[] }>('{ webhookListeners { id } }');
  const input = { subscriptionId: (webhookListeners[0] ?? missing()).id };
  const mutation = `mutation ($input: SendTestWebhookEventInput!) { sendTestWebhookEvent(input: $input) { webhookEventId } }`;
  for (let index = 0; index < count; index += 1) await request(mutation, { input });
}

/** A receiver that closes the connection of some requests, as one that restarts. */
async function startResettingReceiver() {
  const sequences: number[] = [];
  const resets = { count: 0 };
  const receiver = await startReceiver({
    onDelivery(response, { headers }) {
      if (resets.count > 0) {
        resets.count -= 1;
        response.socket?.resetAndDestroy();
        return;
      }
      sequences.push(Number(headers['x-service-webhook-sequence']));
      response.end();
    },
  });
  onTestFinished(() => receiver.close());
  return { port: receiver.port, sequences, resets };
}

function start(to: number, state: string) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    DEEDWIRE_URL: url,
    CLIENT_ID: credential.clientId,
    API_KEY: credential.apiKey,
    ORGANIZATION_ID: credential.organizationId,
    XDG_STATE_HOME: state,
  };
  const args = ['--conditions=deedwire-source', bin, 'listen', '--to', String(to), '--json'];
  const child = spawn(process.execPath, args, { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const errors = text(child.stderr);
  return { child, errors, closed: once(child, 'close'), output: () => output };
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

test('listen delivers every event in order through restarts of the API and of the receiver, and kills', async () => {
  const state = await mkdtemp(join(folder, 'state-'));
  const { port: to, sequences, resets } = await startResettingReceiver();
  let running = start(to, state);
  await eventually(() => expect(running.output()).toContain('"event":"ready"'));
  await sendEvents(3);
  await eventually(() => expect(sequences).toEqual(upTo(3)));

  // The API restarts, with and without a request that waits.
  for (const last of [5, 7]) {
    await api.stop();
    await eventually(() =>
      expect(running.output().match(/"event":"api-unavailable"/g)).toHaveLength(last === 5 ? 1 : 2),
    );
    api = await harness.startPartnerApi({ PORT: port });
    await api.whenReady;
    await sendEvents(2);
    await eventually(() => expect(sequences).toEqual(upTo(last)));
  }

  // The receiver restarts while it has a request.
  resets.count = 2;
  await sendEvents(3);
  await eventually(() => expect(sequences).toEqual(upTo(10)));
  expect(resets.count).toBe(0);
  expect(running.output()).toContain('"event":"receiver-unavailable"');

  // The machine sleeps.
  running.child.kill('SIGSTOP');
  await sendEvents(3);
  await sleep(1_000);
  running.child.kill('SIGCONT');
  await eventually(() => expect(sequences).toEqual(upTo(13)));

  // Each kill repeats at most the event that was sent last.
  const kills = 3;
  for (let kill = 0; kill < kills; kill += 1) {
    const before = sequences.length;
    const sending = sendEvents(8);
    await eventually(() => expect(sequences.length).toBeGreaterThan(before + kill));
    running.child.kill('SIGKILL');
    await Promise.all([running.closed, sending]);
    running = start(to, state);
  }
  const last = 13 + kills * 8;
  await eventually(() => expect(sequences.at(-1)).toBe(last));
  expect([...new Set(sequences)]).toEqual(upTo(last));
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(sequences.length).toBeLessThanOrEqual(last + kills);
  await eventually(() => expect(running.output()).toContain('"event":"ready"'));
  running.child.kill('SIGINT');
  expect(await running.closed).toEqual([0, null]);
});

test('listen ends with one line on a full disk, and sends the event that it could not remember again', async ({
  skip,
}) => {
  const state = join(folder, 'full');
  await mkdir(state);
  const run = promisify(execFile);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', state]).catch(() => null);
  skip(mounted === null, 'This login mounts no tmpfs.');
  onTestFinished(async () => {
    await run('umount', ['-l', state]);
  });
  await deleteListeners();
  const { port: to, sequences } = await startResettingReceiver();
  const first = start(to, state);
  await eventually(() => expect(first.output()).toContain('"event":"ready"'));
  await writeFile(join(state, 'large'), Buffer.alloc(100_000)).catch(() => {});
  await sendEvents(2);
  expect(await first.closed).toEqual([1, null]);
  expect((await first.errors).replaceAll('\n  ', ' ')).toMatch(
    /^deedwire-webhook-receiver: \S+ cannot be written: ENOSPC\.\n$/,
  );
  expect(sequences).toEqual([1]);
  await rm(join(state, 'large'));
  const second = start(to, state);
  await eventually(() => expect(sequences).toEqual([1, 1, 2]));
  second.child.kill('SIGINT');
  await second.closed;
});
