import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestHeaderAssociatedData, secretAssociatedData, toRecordId } from '@deedwire/core';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { createSecretKeyRing } from '@deedwire/store';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const key = randomBytes(32);
const ring = createSecretKeyRing(new Map([['k1', key]]));

let id: string;

const gid = (): string => `gid://service/WebhookSubscription/${id}`;
const oldSecret = generateWebhookSecret();

const harness = await forFile(createHarness());
const { accountId } = harness.accounts.customer;
const env = {
  DATABASE_URL: await harness.database.urlFor('operator'),
  WEBHOOK_SECRET_KEYS: `k1:${key.toString('base64')}`,
  OPERATOR_NAME: 'ada',
};

beforeEach(async () => {
  const [{ id: reserved } = {}] = await harness.sql('select new_record_id() as id');
  id = String(reserved);
  await harness.sql(
    `with subscription as (
       insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
       values ($1, $2, 'customer', 'https://receiver.example/', $3, nextval('webhook_queue_position'))
       returning id, interface
     ), pin as (
       insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
       select id, interface, 'order.placed', '2026-11-01' from subscription
     )
     insert into webhook_subscription_sequence (subscription_id, interface) select id, interface from subscription`,
    [id, accountId, ring.encrypt(oldSecret, secretAssociatedData(toRecordId(id)))],
  );
});

const operate = (...commandArguments: string[]) => callOperator(env, 'subscription', ...commandArguments);

async function read(): Promise<Record<string, unknown>> {
  const [row] = await harness.sql('select * from webhook_subscription where id = $1', [id]);
  return row ?? {};
}

/** The actions of the entries about the subscription, oldest first, with the actor and the details. */
const audited = () =>
  harness.sql('select actor, action, details from audit_entry where subject = $1 order by number', [gid()]);

async function storedSecret(column: 'secret_ciphertext' | 'next_secret_ciphertext'): Promise<string | null> {
  const bytes = (await read())[column];
  return Buffer.isBuffer(bytes) ? ring.decrypt(bytes, secretAssociatedData(toRecordId(id))) : null;
}

describe('update', () => {
  test('changes the timeout, and records it', async () => {
    const { exitCode, stdout, stderr } = await operate('update', gid(), '--timeout', '12');
    const changed = `The subscription ${gid()} has a timeout of 12 seconds\n`;
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: changed, stderr: '' });
    expect(await read()).toMatchObject({ timeout_seconds: 12 });
    const details = { callbackUrlChanged: false, eventTypesChanged: false, nameChanged: false, timeoutSeconds: 12 };
    expect(await audited()).toEqual([{ actor: 'ada', action: 'webhook_subscription.update', details }]);
    expect((await operate('show', gid())).stdout).toMatch(/^timeout +12 s$/m);
  });

  test.each([
    ['16', 1, 'error: The timeout must be 5 to 15 seconds; it is 16.\n'],
    ['5s', 2, /'5s' is invalid. It must be a number of seconds from 5 to 15\.\n/],
  ])('refuses %s, and changes nothing', async (seconds, exitCode, message) => {
    const refused = await operate('update', gid(), '--timeout', seconds);
    expect(refused).toMatchObject({ exitCode, stdout: '', stderr: expect.stringMatching(message) });
    expect(await read()).toMatchObject({ timeout_seconds: 5 });
    expect(await audited()).toEqual([]);
  });
});

const headerToken = '4d9f0c62b7e1458a9c3a7f20d86b51e4';
/** Updates the request header from a file with this text. */
const updateFrom = async (text: string, ...options: string[]) => {
  const { path: folder } = await forTest(temporaryFolder('header'));
  const file = join(folder, 'header.txt');
  await writeFile(file, text);
  return operate('update', gid(), '--header-file', file, ...options);
};
const storedHeader = async () => {
  const { request_header_name: name, request_header_ciphertext: bytes } = await read();
  if (!Buffer.isBuffer(bytes)) return [name, null];
  const associatedData = requestHeaderAssociatedData(toRecordId(id), String(name), 'https://receiver.example');
  return [name, ring.decrypt(bytes, associatedData)];
};

describe('update of the request header', () => {
  test('takes it from a file, records its name, and never prints its value', async () => {
    const { exitCode, stdout, stderr } = await updateFrom(`Authorization: Bearer ${headerToken}\n`, '--timeout', '10');
    const lines = [
      `The subscription ${gid()} has a timeout of 10 seconds`,
      `The subscription ${gid()} has the request header Authorization, which is sent to https://receiver.example`,
    ];
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: `${lines.join('\n')}\n`, stderr: '' });
    expect(await storedHeader()).toEqual(['Authorization', `Bearer ${headerToken}`]);
    const [entry] = await audited();
    expect(entry?.['details']).toMatchObject({ timeoutSeconds: 10, requestHeaderName: 'Authorization' });
    const shown = [
      await operate('show', gid()),
      await operate('show', gid(), '--json'),
      await operate('list', '--json'),
    ];
    expect(shown[0]?.stdout).toMatch(/^request header +Authorization$/m);
    expect(JSON.stringify([shown, entry])).not.toContain(headerToken);
    await harness.sql(`update webhook_subscription set callback_url = 'https://other.example/' where id = $1`, [id]);
    expect((await operate('show', gid())).stdout).toMatch(
      /^request header +Authorization, not sent: the callback URL has moved to another origin\. Check it$/m,
    );
    expect((await operate('update', gid(), '--remove-header')).stdout).toBe(
      `The subscription ${gid()} has no request header\n`,
    );
    expect(await storedHeader()).toEqual([null, null]);
  });

  test('refuses one that is not valid, without quoting it', async () => {
    for (const text of [
      `Host: ${headerToken}`,
      `Authorization: ${headerToken}\n${headerToken}`,
      headerToken,
      `Authorization:`,
    ]) {
      const { exitCode, stdout, stderr } = await updateFrom(text);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^error: /);
      expect(stderr).not.toContain(headerToken);
    }
    expect(await storedHeader()).toEqual([null, null]);
  });

  test('does not quote a header that is passed in place of its file', async () => {
    for (const given of [`X-Key: ${headerToken}`, `Bearer ${headerToken}`, `/${headerToken}\0`, '.']) {
      const { exitCode, stdout, stderr } = await operate('update', gid(), '--header-file', given);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^error: The file of --header-file cannot be read\. \((?:ENOENT|EISDIR|ERR_\w+)\)\n$/);
    }
  });

  test('refuses keys that do not decrypt the present secret', async () => {
    const others = { ...env, WEBHOOK_SECRET_KEYS: `k2:${randomBytes(32).toString('base64')}` };
    const { path: folder } = await forTest(temporaryFolder('header'));
    const file = join(folder, 'header.txt');
    await writeFile(file, `X-Key: ${headerToken}`);
    expect(await callOperator(others, 'subscription', 'update', gid(), '--header-file', file)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('Deedwire cannot decrypt the present secret. Set WEBHOOK_SECRET_KEYS'),
    });
    expect(await storedHeader()).toEqual([null, null]);
  });

  test('is wrong usage without a change, or with two', async () => {
    for (const options of [[], ['--remove-header', '--header-file', '-'], ['--header', 'X-Key: a']])
      expect(await operate('update', gid(), ...options)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('rotate', () => {
  test('prints a generated secret once, alone on standard output, and when the old one ends', async () => {
    const { exitCode, stdout, stderr } = await operate('rotate', gid(), '--overlap', '1h');
    expect(exitCode).toBe(0);
    expect(await storedSecret('secret_ciphertext')).toBe(oldSecret);
    expect(stdout).toBe(`${await storedSecret('next_secret_ciphertext')}\n`);
    const endsAt = (await read())['rotation_ends_at'];
    expect(stderr).toContain(`until ${endsAt instanceof Date ? endsAt.toISOString() : ''}.`);
    expect(await audited()).toEqual([
      { actor: 'ada', action: 'webhook_subscription.rotate', details: { overlapSeconds: 3600 } },
    ]);
    const again = await operate('rotate', gid());
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toMatch(
      /^error: The secret is being rotated until 20\S+Z\. Rotate it again after that time, or with an overlap of 0, which ends this rotation\.\n$/,
    );
  });

  test('takes the secret of the environment or of a file, and never prints another', async () => {
    const { path: folder } = await forTest(temporaryFolder('rotate'));
    const secret = generateWebhookSecret();
    const file = join(folder, 'secret');
    await writeFile(file, `${secret}\n`);
    const withFile = { ...env, WEBHOOK_SECRET_FILE: file };
    const rotated = await callOperator(withFile, 'subscription', 'rotate', gid(), '--overlap', '0', '--json');
    expect(rotated).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(rotated.stdout)).toMatchObject({
      webhookSecret: secret,
      webhookSubscription: { id: gid(), rotation: null },
    });
    expect(await storedSecret('secret_ciphertext')).toBe(secret);
    const malformed = await callOperator({ ...env, WEBHOOK_SECRET: 'whsec_short' }, 'subscription', 'rotate', gid());
    expect(malformed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(malformed.stderr).not.toContain('short');
    const argument = await callOperator(env, 'subscription', 'rotate', gid(), '--secret', secret);
    expect(argument.exitCode).toBe(2);
  });

  test('needs the keys, and an existing subscription', async () => {
    const { WEBHOOK_SECRET_KEYS: _, ...without } = env;
    expect((await callOperator(without, 'subscription', 'rotate', gid())).stderr).toContain('Set WEBHOOK_SECRET_KEYS');
    const unknown = 'gid://service/WebhookSubscription/1';
    expect(await operate('rotate', unknown)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: The subscription ${unknown} does not exist.\n`,
    });
  });
});

const workerPauses = (reason: string) =>
  harness.sql('update webhook_subscription set paused_reason = $2, paused_at = now() where id = $1', [id, reason]);

describe('pause and resume', () => {
  test('print the state, and keep what the owner sees', async () => {
    const paused = await operate('pause', gid());
    const pausedAt = (await read())['paused_at'];
    const since = pausedAt instanceof Date ? pausedAt.toISOString() : '';
    const stdout = `The subscription ${gid()} is paused with OPERATOR since ${since}\n`;
    expect(paused).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect((await operate('list')).stdout).toContain('  PAUSED with OPERATOR  ');
    expect(await operate('pause', gid())).toEqual(paused);
    expect(await operate('resume', gid())).toEqual({
      exitCode: 0,
      stdout: `The subscription ${gid()} is active\n`,
      stderr: '',
    });
    expect(await audited()).toMatchObject([
      { actor: 'ada', action: 'webhook_subscription.pause' },
      { actor: 'ada', action: 'webhook_subscription.resume' },
    ]);
    expect(JSON.parse((await operate('pause', gid(), '--json')).stdout)).toMatchObject({
      id: gid(),
      status: 'PAUSED',
      pausedReason: 'OPERATOR',
    });
  });

  test('resume ends GONE without the keys, and refuses a retired version', async () => {
    const { WEBHOOK_SECRET_KEYS: _, ...without } = env;
    await workerPauses('GONE');
    expect(await callOperator(without, 'subscription', 'resume', gid())).toMatchObject({ exitCode: 0 });
    expect(await read()).toMatchObject({ paused_reason: null, url_number: 2 });
    await workerPauses('VERSION_RETIRED');
    expect(await operate('resume', gid())).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('The subscription pins a retired event version.'),
    });
  });
});

describe('test', () => {
  test('queues an event with sample data for the subscription, and is in the audit log', async () => {
    const { exitCode, stdout, stderr } = await operate('test', gid(), '--type', 'order.placed', '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { webhookEventId } = JSON.parse(stdout);
    expect(
      await harness.sql(
        `select q.subscription_id::text as "subscriptionId", e.event_type as type, e.is_test as "isTest"
         from webhook_event_queue q join webhook_event e on e.id = q.event_id where e.id = $1`,
        [webhookEventId.split('/').at(-1)],
      ),
    ).toEqual([{ subscriptionId: id, type: 'order.placed', isTest: true }]);
    expect(await audited()).toEqual([
      { actor: 'ada', action: 'webhook_subscription.test', details: { eventType: 'order.placed' } },
    ]);
    expect((await operate('test', gid(), '--type', 'order.placed')).stdout).toMatch(
      /^The event gid:\/\/service\/WebhookEvent\/\d+ is queued\n$/,
    );
  });

  test('says which types the subscription receives', async () => {
    expect(await operate('test', gid())).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'error: The subscription does not receive webhook.test. It receives order.placed. Name one of these types, or add webhook.test with updateWebhookSubscription. Pass the type with --type.\n',
    });
  });
});

describe('errors with --json', () => {
  const unknown = 'gid://service/WebhookSubscription/1';

  test('have a code and a message', async () => {
    const error = { code: 'NOT_FOUND', message: `The subscription ${unknown} does not exist.` };
    for (const verb of ['pause', 'resume'])
      expect(await operate(verb, unknown, '--json')).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: `${JSON.stringify({ error })}\n`,
      });
  });

  test('report a failure and a wrong command line as one line', async () => {
    const { DATABASE_URL: _, ...without } = env;
    const nowhere = { ...without, DATABASE_URL: 'nothing' };
    const failed = await callOperator(nowhere, 'subscription', 'pause', unknown, '--json');
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'FAILED' } });
    const wrong = await operate('pause', '--json');
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(JSON.parse(wrong.stderr)).toEqual({
      error: { code: 'WRONG_USAGE', message: "missing required argument 'gid'" },
    });
    expect(await operate('pause', '--help', '--json')).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
