import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { secretAssociatedData, toRecordId } from '@deedwire/core';
import { callOperator, callOperatorWith, createHarness, type OperatorResult } from '@deedwire/dev-environment/harness';
import { createSecretKeyRing } from '@deedwire/store';
import { seededRandom, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { generateWebhookSecret, signWebhook, verifyWebhook } from '@deedwire/webhook-signing';
import { beforeEach, describe, expect, test } from 'vitest';
import { listedHeaders } from '../support/delivery-headers.ts';
import { insertAttempts, insertDelivery, insertPayload, insertSubscription } from '../support/stored-deliveries.ts';

const key = randomBytes(32);
const ring = createSecretKeyRing(new Map([['k1', key]]));
const secret = generateWebhookSecret();
const nextSecret = generateWebhookSecret();

const path = '/hook[1]{a,b}?x=$(id)&y=%27';

const harness = await forFile(createHarness());
const env = {
  DATABASE_URL: await harness.database.urlFor('operator'),
  WEBHOOK_SECRET_KEYS: `k1:${key.toString('base64')}`,
};
const receiver = await forFile(
  startReceiver({ path, onDelivery: (response) => response.writeHead(418).end('short and stout') }),
);
beforeEach(() => void receiver.deliveries.splice(0));

/** A delivery with this body. Returns its identifier. */
async function deliver(body: string): Promise<string> {
  const subscription = await insertSubscription(harness, 'customer', harness.accounts.customer);
  const associated = secretAssociatedData(toRecordId(String(subscription.id)));
  await harness.sql('update webhook_subscription set callback_url = $2, secret_ciphertext = $3 where id = $1', [
    subscription.id,
    receiver.url,
    ring.encrypt(secret, associated),
  ]);
  const delivery = await insertDelivery(harness, subscription, { sequence: 7 });
  await insertAttempts(harness, subscription, delivery, [503, 500]);
  await insertPayload(harness, subscription, delivery, Buffer.from(body));
  return delivery.gid;
}

const show = (...commandArguments: string[]): Promise<OperatorResult> =>
  callOperator(env, 'delivery', 'show', ...commandArguments);

/** Pipes a script into a shell, as `… --curl | sh` does. Returns what it prints. */
async function run(shell: string, script: string): Promise<string> {
  const child = spawn(shell, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(script);
  const output = textOf(child.stdout);
  await once(child, 'close');
  return output;
}

const nasty = [
  `{"quotes":"' '' \\" '\\''","shell":"$(touch /tmp/x) \`id\` $HOME \${x} !! ; & | > * ~"}`,
  '{\n  "lines": "\\n",\n\t"crlf": 1\r\n}\n',
  '{"text":"Zürich 東京 🏠 \\\\ \\u0000 %s %d %% \\\\c"}',
  '{"invisible":"\u202e\u200b\u2028\u009b31m\u001b[2J❤\ufe0f\u3164\\\\0101"}',
  '@/etc/passwd',
  '-n',
  '',
  '\0\0 %b \\',
];

describe.each(['sh', 'bash'])('in %s', (shell) => {
  test.each(nasty)('sends exactly the bytes of %j', async (body) => {
    const { exitCode, stdout } = await show(await deliver(body), '--curl');
    expect(exitCode).toBe(0);
    expect(await run(shell, stdout)).toMatch(/^HTTP\/1\.1 418 [\s\S]*\r\n\r\nshort and stout$/);
    expect(receiver.deliveries.map((request) => [request.path, request.body.toString()])).toEqual([[path, body]]);
    expect(
      receiver.deliveries.every(
        ({ headers, body: bytes }) => verifyWebhook({ prefix: 'X-Service', headers, body: bytes, secret }).id !== null,
      ),
    ).toBe(true);
  });

  test('sends the largest payload, which is no argument', async () => {
    const body = JSON.stringify({ text: `'é"`.repeat(60_000) });
    const { stdout } = await show(await deliver(body), '--curl');
    await run(shell, stdout);
    expect(receiver.deliveries.map((request) => request.body.equals(Buffer.from(body)))).toEqual([true]);
  });
});

test('sends random bodies unchanged, including as a pasted line', async () => {
  const random = seededRandom(1);
  const characters = [...`'"\\$\`!%@#&|;<>(){}[]*?~^\n\t\r\0 -nea01é😀\u202e\u0085\u00ad`];
  const bodies = Array.from({ length: 12 }, () =>
    Array.from({ length: 60 }, () => characters[Math.floor(random() * characters.length)] ?? '').join(''),
  );
  for (const body of bodies) {
    const { stdout } = await show(await deliver(body), '--curl', '--json');
    const { command } = JSON.parse(stdout);
    await promisify(execFile)('bash', ['-c', command]);
  }
  expect(receiver.deliveries.map((request) => request.body.toString())).toEqual(bodies);
});

test('sends the headers of a retry and no others, in a rotation with both signatures', async () => {
  const body = '{"a":1}';
  const gid = await deliver(body);
  const subscriptionId = (await harness.sql('select max(id)::text as id from webhook_subscription'))[0]?.['id'];
  await harness.sql(
    `update webhook_subscription
     set next_secret_ciphertext = $2, rotation_started_at = now(), rotation_ends_at = now() + interval '1 hour' where id = $1`,
    [subscriptionId, ring.encrypt(nextSecret, secretAssociatedData(toRecordId(String(subscriptionId))))],
  );
  await run('sh', (await show(gid, '--curl')).stdout);
  const [request] = receiver.deliveries;
  const sent = listedHeaders().filter(([, when]) => !['with deprecated versions', 'with test events'].includes(when));
  const ofTransport = ['host', 'content-length'];
  expect(
    Object.keys(request?.headers ?? {})
      .filter((name) => !ofTransport.includes(name))
      .toSorted(),
  ).toEqual(sent.map(([name]) => name).toSorted());
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': gid,
    'x-service-webhook-attempt': '2',
    'x-service-webhook-sequence': '7',
    'x-service-webhook-event': 'webhook.test',
    'x-service-webhook-replay': 'true',
  });
  for (const one of [secret, nextSecret])
    expect(verifyWebhook({ prefix: 'X-Service', headers: request?.headers ?? {}, body, secret: one }).id).toBe(gid);
});

test('prints no secret, says until when it is accepted, and has one JSON document', async () => {
  const gid = await deliver('{}');
  const text = await show(gid, '--curl');
  const json = await show(gid, '--curl', '--json');
  for (const { stdout, stderr } of [text, json]) {
    expect(stdout + stderr).not.toContain(secret);
    expect(stdout + stderr).not.toContain(secret.slice('whsec_'.length));
  }
  expect(text.stderr).toMatch(/^Receivers accept the request until 20\S+Z\.\n$/);
  const { signedAt, acceptedUntil, command } = JSON.parse(json.stdout);
  expect(Date.parse(acceptedUntil) - Date.parse(signedAt)).toBe(300_000);
  expect({ stderr: json.stderr, command }).toEqual({ stderr: '', command: expect.stringContaining(gid) });
});

const codes = ({ stdout }: OperatorResult): unknown =>
  JSON.parse(stdout).findings.map(({ code }: { code: string }) => code);

test('webhook verify compares a captured body with the payload of a delivery', async () => {
  const body = '{"type":"other","b":1,"a":2}';
  const gid = await deliver(body);
  const headers = signWebhook({ prefix: 'X-Service', id: gid, timestamp: 1_800_000_000, body, secret });
  const verify = (captured: string, ...more: string[]): Promise<OperatorResult> =>
    callOperatorWith(
      { env: { ...env, WEBHOOK_SECRET: secret }, input: Buffer.from(JSON.stringify({ headers, body: captured })) },
      'webhook',
      'verify',
      '--at',
      new Date(1_800_000_000_000).toISOString(),
      '--json',
      ...more,
    );
  expect(codes(await verify('{"a":2,"b":1,"type":"other"}'))).toEqual(['SIGNATURE_MISMATCH']);
  expect(codes(await verify('{"a":2,"b":1,"type":"other"}', '--delivery', gid))).toEqual(['BODY_KEYS_REORDERED']);
  expect(codes(await verify('{"type":"other","b":2}', '--delivery', gid))).toEqual(['BODY_DIFFERENT']);
  const unknown = await verify(body, '--delivery', 'gid://service/WebhookDelivery/1');
  expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
});

test('refuses a delivery without a payload, an unknown one, and to run without the keys', async () => {
  const gid = await deliver('{}');
  const { WEBHOOK_SECRET_KEYS: _, ...without } = env;
  expect((await callOperator(without, 'delivery', 'show', gid, '--curl')).stderr).toContain('Set WEBHOOK_SECRET_KEYS');
  const unknown = 'gid://service/WebhookDelivery/1';
  expect((await show(unknown, '--curl')).stderr).toBe(`error: The delivery ${unknown} does not exist.\n`);
  await harness.sql('delete from webhook_payload');
  expect(await show(gid, '--curl')).toMatchObject({ exitCode: 1, stdout: '' });
  const json = await show(gid, '--curl', '--json');
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'CONFLICT' } });
});
