import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { idAt } from '@deedwire/core';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

let subscription: bigint;
/** The ids of the deliveries 1 to 8. Their events have the ids before them. */
let ids: bigint[];

const harness = await forFile(createHarness());
const { accountId } = harness.accounts.customer;
const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
const { path: folder } = await forFile(temporaryFolder('reconcile'));

const startMs = Date.now() - 60_000;
const idOf = (ms: number, order = 0): bigint => BigInt(idAt(new Date(ms))) + BigInt(order);

beforeEach(async () => {
  await harness.sql('delete from webhook_delivery');
  await harness.sql('delete from webhook_payload');
  await harness.sql('delete from webhook_failed_delivery');
  const [{ id } = {}] = await harness.sql('select new_record_id() as id');
  subscription = BigInt(String(id));
  ids = Array.from({ length: 8 }, (_, index) => idOf(startMs + index * 1000, 10));
  await harness.sql(
    `with subscription as (
       insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
       values ($1, $2, 'customer', 'https://receiver.example/', '', nextval('webhook_queue_position'))
     ), sequence as (
       insert into webhook_subscription_sequence (subscription_id, interface, last_sequence) values ($1, 'customer', 8)
     ), delivery as (
       insert into webhook_delivery
         (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select id, $2, $1, 'customer', id - 1, 'order.placed', '2026-11-01', now(), number
       from unnest($3::bigint[]) with ordinality as d (id, number)
     ), payload as (
       insert into webhook_payload (event_id, event_version, interface, body)
       select id - 1, '2026-11-01', 'customer',
         convert_to('{"id":"gid://service/WebhookEvent/' || id - 1 || '","data":{"b":"ü","a":' || number || '}}', 'UTF8')
       from unnest($3::bigint[]) with ordinality as d (id, number)
     )
     insert into webhook_failed_delivery (subscription_id, delivery_id, interface) values ($1, $4, 'customer')`,
    [subscription, accountId, ids, ids[7]],
  );
});

const gid = (): string => `gid://service/WebhookSubscription/${subscription}`;
const delivery = (sequence: number): string => `gid://service/WebhookDelivery/${ids[sequence - 1]}`;
const event = (sequence: number): string => `gid://service/WebhookEvent/${(ids[sequence - 1] ?? 0n) - 1n}`;
const body = (sequence: number, a = sequence): object => ({ id: event(sequence), data: { b: 'ü', a } });
const reordered = (sequence: number): object => ({ data: { a: sequence, b: 'ü' }, id: event(sequence) });
const found = (sequence: number): object => ({
  sequence,
  deliveryId: delivery(sequence),
  eventId: event(sequence),
  type: 'order.placed',
  status: sequence === 8 ? 'FAILED' : 'DELIVERED',
});

async function reconcile(lines: readonly (string | object)[], ...more: string[]) {
  const log = join(folder, 'received.log');
  await writeFile(log, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return callOperator(env, 'subscription', 'reconcile', gid(), '--log', log, ...more);
}

async function result(lines: readonly (string | object)[], ...more: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await reconcile(lines, '--json', ...more);
  const reconciliation = JSON.parse(stdout);
  const { missingCount, alteredCount, unexpectedCount } = reconciliation;
  const message = `The log and the deliveries differ: ${missingCount} missing, ${alteredCount} altered, ${unexpectedCount} unexpected.`;
  const isEqual = missingCount + alteredCount + unexpectedCount === 0;
  expect({ exitCode, stderr }).toEqual(
    isEqual
      ? { exitCode: 0, stderr: '' }
      : { exitCode: 1, stderr: `${JSON.stringify({ error: { code: 'FAILED', message } })}\n` },
  );
  return reconciliation;
}

const all = [1, 2, 3, 4, 5, 6, 7, 8];
const complete = {
  firstSequence: 1,
  lastSequence: 8,
  compared: 8,
  comparedBodies: 0,
  missing: [],
  missingCount: 0,
  altered: [],
  alteredCount: 0,
  unexpected: [],
  unexpectedCount: 0,
  repeatedLines: 0,
  linesOutside: 0,
  numberedUntil: expect.stringMatching(/^\d{4}-.+Z$/),
  isWaiting: false,
};

describe('a complete log', () => {
  test.each<[string, () => (string | object)[], number]>([
    ['of ids of deliveries', () => all.map(delivery), 0],
    ['of quoted ids of events, with empty lines', () => all.flatMap((n) => ['', `"${event(n)}"\r`]), 0],
    ['of bodies', () => all.map((n) => body(n)), 8],
    ['of bodies with members in another order', () => all.map(reordered), 8],
    ['of ids with bodies', () => all.map((n) => ({ deliveryId: delivery(n), body: body(n) })), 8],
    [
      'of ids with the texts of bodies',
      () => all.map((n) => ({ deliveryId: delivery(n), body: JSON.stringify(body(n)) })),
      8,
    ],
  ])('%s', async (_, lines, comparedBodies) => {
    expect(await result(lines())).toEqual({ ...complete, subscriptionId: gid(), comparedBodies });
  });
});

test('finds what is missing, altered and unexpected', async () => {
  const lines = [
    delivery(1),
    body(2),
    body(2),
    body(3, 99),
    { deliveryId: delivery(4), body: 'not JSON' },
    event(6),
    'gid://service/WebhookDelivery/' + String((ids[6] ?? 0n) + 5n),
    'gid://service/WebhookEvent/1',
    delivery(7),
  ];
  expect(await result(lines)).toEqual({
    ...complete,
    subscriptionId: gid(),
    comparedBodies: 3,
    missing: [found(5), found(8)],
    missingCount: 2,
    altered: [
      { ...found(3), line: 4, id: event(3) },
      { ...found(4), line: 5, id: delivery(4) },
    ],
    alteredCount: 2,
    unexpected: [
      { line: 7, id: lines[6] },
      { line: 8, id: lines[7] },
    ],
    unexpectedCount: 2,
    repeatedLines: 1,
  });
});

test('prints a text', async () => {
  const { exitCode, stdout, stderr } = await reconcile([...all.slice(1).map(delivery), event(2)]);
  expect({ exitCode, stderr, stdout: stdout.split('\n') }).toEqual({
    exitCode: 1,
    stderr: 'error: The log and the deliveries differ: 1 missing, 0 altered, 0 unexpected.\n',
    stdout: [
      'Compared 8 deliveries, sequences 1 to 8, and 0 bodies',
      'missing: 1',
      `  1  ${delivery(1)}  order.placed  DELIVERED`,
      'altered: 0',
      'unexpected: 0',
      '',
    ],
  });
});

const time = (sequence: number): string => new Date(startMs + (sequence - 1) * 1000).toISOString();

test('compares a period', async () => {
  const period = ['--since', time(3), '--until', time(6)];
  expect(await result([delivery(1), delivery(3), delivery(5), delivery(8)], ...period)).toEqual({
    ...complete,
    subscriptionId: gid(),
    firstSequence: 3,
    lastSequence: 5,
    compared: 3,
    missing: [found(4)],
    missingCount: 1,
    linesOutside: 2,
  });
  const { exitCode, stderr } = await reconcile([], '--since', time(6), '--until', time(3));
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error: --since must be before --until')]);
});

test('is no proof while an event of the period waits for its sequence', async () => {
  const waiting = 'insert into webhook_event_queue (account_id, interface, event_id) values ($1, $2, $3)';
  await harness.sql(waiting, [accountId, 'customer', idOf(startMs + 3500)]);
  onTestFinished(async () => void (await harness.sql('delete from webhook_event_queue')));
  const log = all.map(delivery);
  const { exitCode, stderr } = await reconcile(log);
  const since = new Date(startMs + 3500 - 60_000).toISOString();
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`error: Events created since ${since} can still wait`),
  ]);
  const { stdout } = await reconcile(log, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ missingCount: 0, numberedUntil: since, isWaiting: true });
  expect(await result(log, '--until', time(4))).toMatchObject({ compared: 3, isWaiting: false });
});

test('has the deliveries of a late worker, whose events were created in the period', async () => {
  await harness.sql('update webhook_delivery set event_id = $2 where id = $1', [ids[6], idOf(startMs + 2500)]);
  expect(await result([delivery(1), delivery(2), delivery(3)], '--until', time(4))).toMatchObject({
    missing: [{ sequence: 7 }],
    linesOutside: 0,
  });
});

async function refusal(lines: readonly (string | object)[]): Promise<string> {
  const { exitCode, stdout, stderr } = await reconcile(lines);
  expect([exitCode, stdout]).toEqual([3, '']);
  return stderr;
}

const reconcileFile = async (content: Buffer, ...more: string[]) => {
  const log = join(folder, 'received.log.gz');
  await writeFile(log, content);
  return callOperator(env, 'subscription', 'reconcile', gid(), '--log', log, ...more);
};
const ofWindows = (): Buffer => Buffer.from(`\u{FEFF}${all.map(delivery).join('\r\n')}\r\n`);
const inTwoParts = (): Buffer =>
  Buffer.concat([all.slice(0, 4), all.slice(4)].map((part) => gzipSync(part.map((n) => `${delivery(n)}\n`).join(''))));

describe('a file', () => {
  test.each<[string, () => Buffer]>([
    ['with a byte order mark and CRLF', ofWindows],
    ['compressed with gzip', () => gzipSync(ofWindows())],
    ['of two compressed parts, as a rotated log that was appended', inTwoParts],
  ])('%s is read', async (_, content) => {
    const { exitCode, stdout, stderr } = await reconcileFile(content(), '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ ...complete, subscriptionId: gid() });
  });

  test('that ends within its compressed part is refused', async () => {
    const { exitCode, stdout, stderr } = await reconcileFile(gzipSync(ofWindows()).subarray(0, -20));
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: expect.stringContaining('received.log.gz cannot be read.'),
    });
  });

  test('whose lines are of another subscription lists 100,000 of them, and counts all', async () => {
    const lines = Array.from(
      { length: 100_002 },
      (_, index) => `gid://service/WebhookDelivery/${idOf(startMs, 100 + index)}`,
    );
    const { stdout } = await reconcileFile(gzipSync(lines.join('\n')), '--json');
    const { unexpected, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ missingCount: 8, unexpectedCount: 100_002, linesOutside: 0 });
    expect([unexpected.length, unexpected[0], unexpected.at(-1)]).toEqual([
      100_000,
      { line: 1, id: lines[0] },
      { line: 100_000, id: lines[99_999] },
    ]);
  });
});

test('refuses a log that it cannot read, an unknown subscription, and a history with a gap', async () => {
  expect(await refusal([delivery(1), 'GET / 200'])).toBe(
    'error: The log was not compared. (Line 2 of the log cannot be read: "GET / 200" is not the id of a delivery or an event. A line is a `webhook-id`, the `id` of an event, a body, or a JSON object with `deliveryId` and `body`.)\n',
  );
  // The receiver chooses what it logs, so it could rewrite the terminal.
  expect(await refusal(['\u009B2J\u202Ex'])).toContain(
    String.raw`Line 1 of the log cannot be read: "\u009b2J\u202ex" is not the id`,
  );
  expect(await refusal(['{"id":'])).toContain(
    'Line 1 of the log cannot be read: it begins with `{`, but it is not a JSON object.',
  );
  expect(await refusal([{ level: 30 }])).toContain('it has neither `deliveryId` nor `id`.');
  const nested = '['.repeat(20_000) + ']'.repeat(20_000);
  expect(await refusal([{ deliveryId: 'gid://service/WebhookDelivery/1', body: nested }])).toContain(
    'Line 1 of the log cannot be read: its body is nested too deeply.',
  );
  await harness.sql('delete from webhook_delivery where sequence = 4');
  expect(await refusal([])).toContain('(The delivery 4 of the subscription is missing in the database');
  const missing = await callOperator(env, 'subscription', 'reconcile', gid(), '--log', join(folder, 'none'));
  expect([missing.exitCode, missing.stderr]).toEqual([3, expect.stringContaining('cannot be read')]);
  await harness.sql('update webhook_subscription set deleted_at = now()');
  expect(await refusal([])).toBe(`error: The log was not compared. (The subscription ${gid()} does not exist.)\n`);
});
