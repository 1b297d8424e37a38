import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretAssociatedData, toRecordId } from '@deedwire/core';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { createSecretKeyRing } from '@deedwire/store';
import { missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { expect, test } from 'vitest';
import {
  insertAttempts,
  insertDelivery,
  insertEvent,
  insertPayload,
  insertPending,
  insertSubscription,
} from '../support/stored-deliveries.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/webhook-did-not-arrive.md'), 'utf8');
// `deedwire-log` needs an installation.
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.trimEnd().split('\n'))
  .filter((line) => !line.startsWith('deedwire-log '));

/** The page names the records of an application. */
const [typesOfRecords = missing()] = /<[^>]+, [^>]+ or [^>]+>/.exec(page) ?? [];

const body = '{"type":"webhook.test"}';
const arrived = '2026-11-03T09:30:01Z';

const harness = await forFile(createHarness());
const { path: folder } = await forFile(temporaryFolder('webhook-did-not-arrive'));
const key = randomBytes(32);
const env = {
  DATABASE_URL: await harness.database.urlFor('operator'),
  WEBHOOK_SECRET_KEYS: `k1:${key.toString('base64')}`,
};
const secret = generateWebhookSecret();
const subscription = await insertSubscription(harness, 'customer', harness.accounts.customer);
const ring = createSecretKeyRing(new Map([['k1', key]]));
await harness.sql('update webhook_subscription set secret_ciphertext = $2 where id = $1', [
  subscription.id,
  ring.encrypt(secret, secretAssociatedData(toRecordId(String(subscription.id)))),
]);
await harness.sql(
  `insert into webhook_subscription_episode (subscription_id, state) values (${subscription.id}, 'DISRUPTED')`,
);
const delivery = await insertDelivery(harness, subscription);
await insertEvent(harness, delivery);
await insertPending(harness, subscription, delivery, { attempts: 1, dueInSeconds: 600 });
await insertAttempts(harness, subscription, delivery, [401]);
await insertPayload(harness, subscription, delivery, Buffer.from(body));
const headers = signWebhook({
  prefix: 'X-Service',
  id: delivery.gid,
  timestamp: Date.parse(arrived) / 1_000,
  body,
  secret,
});
const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
await writeFile(join(folder, 'request.http'), ['POST /hook HTTP/1.1', ...lines, '', body].join('\r\n'));
await writeFile(join(folder, 'secret.txt'), secret);
const [account] = await harness.sql('select name from account where id = $1', [harness.accounts.customer.accountId]);
const values: Record<string, string> = {
  '<name>': String(account?.['name']).slice(1, 6),
  '<account>': harness.accounts.customer.id,
  '<subscription>': subscription.gid,
  '<delivery>': delivery.gid,
  [typesOfRecords]: 'Order/4711',
  '<event>': `WebhookEvent/${delivery.eventId}`,
  '<event type>': 'webhook.test',
  '<time>': new Date(Date.now() - 3_600_000).toISOString(),
  '<arrived>': arrived,
  'request.http': join(folder, 'request.http'),
  'secret.txt': join(folder, 'secret.txt'),
  '10m': '0',
};

/** The words of a command, without the name of the program. */
function wordsOf(command: string): string[] {
  const words = command.match(/<[^>]+>|\S+/g) ?? missing();
  return words.slice(1).map((word) => values[word] ?? word);
}

/** What each command prints, in their order on the page. */
const expected: [start: string, output: () => string][] = [
  ['delivery late', () => 'Nothing is late'],
  ['subscription list', () => values['<subscription>'] ?? ''],
  ['account list', () => values['<account>'] ?? ''],
  ['subscription list', () => values['<subscription>'] ?? ''],
  ['subscription show', () => 'https://receiver.example/'],
  ['delivery list', () => 'No deliveries match.'],
  ['delivery list', () => values['<delivery>'] ?? ''],
  ['delivery list', () => values['<delivery>'] ?? ''],
  ['delivery list', () => 'No deliveries match.'],
  ['delivery why', () => 'PENDING: RETRY_SCHEDULED'],
  ['delivery show', () => 'Attempt 1: no details were kept.'],
  ['webhook verify', () => 'Accepted: the request was signed with the secret.'],
  ['subscription rotate', () => 'whsec_'],
  ['delivery watch', () => ''],
  ['delivery retry', () => 'is sent again.'],
  ['delivery show', () => `X-Service-Webhook-Subscription-Id: ${values['<subscription>']}`],
  ['delivery send-pending', () => 'are due now, oldest first.'],
  ['subscription replay', () => 'No deliveries match.'],
  ['subscription replay', () => 'Replay'],
];

test('the page has these commands', () => {
  expect(commands.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual(
    expected.map(([start]) => `deedwire-operator ${start}`),
  );
});

test.each(commands.map((command, index) => ({ command, index })))('$command', async ({ command, index }) => {
  const { exitCode, stdout, stderr } = await callOperator(env, ...wordsOf(command));
  expect({ exitCode, stderr: stderr.replace(/^(?:Receivers accept|Store the webhook secret).+\n$/, '') }).toEqual({
    exitCode: 0,
    stderr: '',
  });
  expect(stdout).toContain(expected[index]?.[1]());
});
