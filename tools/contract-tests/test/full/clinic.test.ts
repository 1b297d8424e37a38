import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, startPostgres, withClient } from '@deedwire/embedded-postgres';
import { type Credential, eventually, postGraphql, type Receiver, runOnce, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { beforeAll, expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

const folder = join(workspaceRoot, 'examples/clinic');
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

const server = await forFile(startPostgres());
const urlOf = (login: string): string => {
  const url = new URL(server.url);
  [url.username, url.password, url.pathname] = [login, 'secret', '/clinic'];
  return url.href;
};
const port = await findFreePort();
const graphqlUrl = `http://127.0.0.1:${port}/patient/graphql`;
const secret = `whsec_${randomBytes(24).toString('base64')}`;
const env = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NODE_ENV: 'development',
  // On a busy machine, any statement can be slow.
  DATABASE_TIMEOUT_MS: '20000',
  LOG_LEVEL: 'warn',
  PORT: String(port),
  ADMIN_PORT: '0',
  WEBHOOK_CALLBACK_POLICY: 'development',
  WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
};

/** Starts a script of the example with a login, and arguments after those of the script. */
function start(script: string, login: string, ...args: readonly string[]) {
  const [, ...command] = (scripts[script] ?? '').replace('--env-file=.env ', '').split(' ');
  const child = spawn(process.execPath, [...command, ...args], {
    cwd: folder,
    env: { ...env, DATABASE_URL: urlOf(login) },
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (printed[name] += text));
  return { child, printed };
}

async function run(script: string, login: string, ...args: readonly string[]): Promise<string> {
  const { child, printed } = start(script, login, ...args);
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${script}: ${printed.stdout}${printed.stderr}`);
  return printed.stdout;
}

const sql = (statement: string, values: readonly unknown[] = []) =>
  runOnce(urlOf('clinic_owner').replace(/$/, '?options=-c%20search_path%3Ddeedwire'), statement, values);

/** The key of a new patient. */
async function newPatient(externalId: string): Promise<Credential> {
  const [row] = await sql(`select create_account('patient', $1, 'Ada') as gid`, [externalId]);
  const printed = await run(
    'operator',
    'clinic_owner',
    'credential',
    'issue',
    '--account',
    String(row?.['gid']),
    '--json',
  );
  return JSON.parse(printed);
}

let ada: Credential;
beforeAll(async () => {
  await withClient(server.url, async (client) => {
    await client.query(`create role clinic_owner login createrole password 'secret'`);
    await client.query('create database clinic owner clinic_owner');
  });
  await run('migrate', 'clinic_owner');
  await withClient(server.url, async (client) => {
    for (const app of ['patient_api', 'webhook_worker'])
      await client.query(`create role a_${app} login password 'secret' in role clinic_${app}`);
  });
  ada = await newPatient('p-1');
  const apps = [start('patient-api', 'a_patient_api'), start('webhook-worker', 'a_webhook_worker')];
  const isReady = async () => {
    const { status } = await ask(ada, '{ appointments { id } }');
    if (status !== 200) throw new Error(`The interface answers ${status}.`);
  };
  await eventually(isReady).catch((error: unknown) => {
    throw new Error(apps.map(({ printed }) => printed.stdout + printed.stderr).join('\n'), { cause: error });
  });
  return async () => {
    for (const { child } of apps) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'close');
    }
  };
});

async function ask(credential: Credential, query: string, variables: object = {}) {
  const { status, body } = await postGraphql(graphqlUrl, credential, { query, variables, prefix: 'X-Clinic' });
  return { status, ...body };
}

const book = (credential: Credential, input: object) =>
  ask(
    credential,
    `mutation Book($input: BookAppointmentInput!) {
      bookAppointment(input: $input) { appointment { id startsAt reason } userErrors { code field message } }
    }`,
    { input },
  );

const booked = (id: unknown, input: object) => ({ bookAppointment: { appointment: { id, ...input }, userErrors: [] } });
const refused = (code: string, field: string) => ({
  bookAppointment: { appointment: null, userErrors: [{ code, field: ['input', field], message: expect.any(String) }] },
});

/** Days from now. */
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

async function subscribe(credential: Credential, version: string): Promise<Receiver> {
  const receiver = await forTest(startReceiver());
  const { data, errors } = await ask(
    credential,
    `mutation Subscribe($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { userErrors { code message } }
    }`,
    {
      input: {
        callbackUrl: receiver.url,
        webhookSecret: secret,
        eventTypes: [{ type: 'appointment.booked', version }],
      },
    },
  );
  expect({ data, errors }).toEqual({ data: { createWebhookSubscription: { userErrors: [] } } });
  return receiver;
}

/** Of the body, whose signature is verified. */
function dataOf({ headers, body }: Receiver['deliveries'][number]): unknown {
  verifyWebhook({ headers, body, secret });
  const { type, version, data } = JSON.parse(body.toString());
  return { type, version, data };
}

test('a patient books an appointment, which is one row, one event at both versions and one entry of the audit log', async () => {
  const receivers = [await subscribe(ada, '2026-11-01'), await subscribe(ada, '2027-02-01')];
  const input = { startsAt: inDays(1), reason: 'Søvnløshet' };
  const { data, errors } = await book(ada, { ...input, idempotencyKey: 'k-1' });
  const id = expect.stringMatching(/^gid:\/\/clinic\/Appointment\/\d+$/);
  expect({ data, errors }).toEqual({ data: booked(id, input) });
  // What an earlier request with the key has done.
  expect(await book(ada, { ...input, idempotencyKey: 'k-1' })).toEqual({
    status: 200,
    data,
    extensions: expect.objectContaining({ idempotency: { replayed: true } }),
  });
  const other = await book(ada, { ...input, reason: 'Feber', idempotencyKey: 'k-1' });
  expect(other.data).toEqual(refused('IDEMPOTENCY_KEY_REUSED', 'idempotencyKey'));
  expect((await ask(ada, '{ appointments { startsAt reason } }')).data).toEqual({ appointments: [input] });

  const [first, second] = await Promise.all(receivers.map((receiver) => receiver.waitFor(1)));
  const { appointment } = JSON.parse(JSON.stringify(data)).bookAppointment;
  expect(first?.map(dataOf)).toEqual([
    {
      type: 'appointment.booked',
      version: '2026-11-01',
      data: { appointmentId: appointment.id, startsAt: input.startsAt },
    },
  ]);
  expect(second?.map(dataOf)).toEqual([{ type: 'appointment.booked', version: '2027-02-01', data: { appointment } }]);
  // With the rights of the interface, as its login.
  expect(await sql(`select login, subject from audit_entry where action = 'appointment.book'`)).toEqual([
    { login: 'a_patient_api', subject: appointment.id },
  ]);
  await expect(runOnce(urlOf('a_patient_api'), 'delete from deedwire.appointment')).rejects.toThrow(
    'permission denied',
  );
});

const counts = () =>
  sql(`select (select count(*)::int from appointment) as appointments,
    (select count(*)::int from webhook_event where event_type = 'appointment.booked') as events,
    (select count(*)::int from audit_entry where action = 'appointment.book') as entries,
    (select count(*)::int from idempotency_key where mutation = 'bookAppointment') as keys`);

test('a change that is refused or fails leaves nothing, and another account sees nothing', async () => {
  const eve = await newPatient('p-2');
  const taken = inDays(2);
  await book(ada, { startsAt: taken, reason: 'Feber' });
  const before = await counts();
  for (const [input, code, field] of [
    [{ startsAt: inDays(-1), reason: 'Feber' }, 'STARTS_AT_INVALID', 'startsAt'],
    [{ startsAt: inDays(3), reason: ' ' }, 'REASON_INVALID', 'reason'],
    [{ startsAt: taken, reason: 'Feber' }, 'TIME_TAKEN', 'startsAt'],
  ] as const)
    expect((await book(eve, { ...input, idempotencyKey: 'k' })).data).toEqual(refused(code, field));
  // The last statement of the transaction fails.
  await sql(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'No result is saved.'; end $$`,
  );
  await sql('create trigger fail before update on idempotency_key for each row execute function fail()');
  const failed = await book(eve, { startsAt: inDays(4), reason: 'Feber', idempotencyKey: 'k' });
  await sql('drop function fail cascade');
  expect(failed.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
  expect(await counts()).toEqual(before);
  expect((await ask(eve, '{ appointments { id } }')).data).toEqual({ appointments: [] });
  // The key was released each time.
  const input = { startsAt: inDays(4), reason: 'Feber' };
  expect((await book(eve, { ...input, idempotencyKey: 'k' })).data).toEqual(booked(expect.any(String), input));
});

test('two requests with one key make one appointment', async () => {
  const input = { startsAt: inDays(5), reason: 'Feber', idempotencyKey: 'k-2' };
  const before = await counts();
  const answers = await Promise.all([book(ada, input), book(ada, input), book(ada, input)]);
  const codes = answers.map(({ data }) => JSON.parse(JSON.stringify(data)).bookAppointment.userErrors[0]?.code ?? null);
  expect(codes).toContain(null);
  expect(codes.filter((code) => code !== null && code !== 'IDEMPOTENCY_IN_PROGRESS')).toEqual([]);
  const added = Object.fromEntries(Object.entries(before[0] ?? {}).map(([name, count]) => [name, Number(count) + 1]));
  expect(await counts()).toEqual([added]);
});
