import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { findFreePort, startPostgres, withClient } from '@deedwire/embedded-postgres';
import {
  commandsOf,
  type Credential,
  eventually,
  postGraphql,
  type Receiver,
  runOnce,
  startReceiver,
} from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { quietNpm } from '../support/install-lines.ts';
import { tarballsOf } from '../support/packed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// What a reader of the page does, outside of the workspace: it makes `examples/clinic`, and puts it into production.

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const page = readFileSync(join(workspaceRoot, 'docs/your-service.md'), 'utf8');
const example = join(workspaceRoot, 'examples/clinic');
const [, install = ''] = commandsOf(page, 'Install', 2);
const [init = ''] = commandsOf(page, '1. Write the files', 1);
const [forgetExample = ''] = commandsOf(page, '4. The event', 1);
const [generateTypes = '', checkCode = ''] = commandsOf(page, '5. The code', 2);
const [dev = '', bookAndAsk = '', moveSubscription = ''] = commandsOf(page, '6. Run it', 3);
const [, received = ''] = /^```text\n(received .*\n)```$/m.exec(page) ?? [];
const [runTest = ''] = commandsOf(page, '7. Test it', 1);
const [beginVersion = '', checkVersion = ''] = commandsOf(page, 'Another date', 2);
const [inCi = ''] = commandsOf(page, 'In CI', 1);
const [deployed = ''] = commandsOf(page, 'Production', 1);
const tsconfig = `${/^```json\n(\{\n {2}"compilerOptions"[^]*?)^```$/m.exec(page)?.[1]}`;

/** The files of the example that people wrote. */
const written = [
  'clinic.test.ts',
  'deedwire/migrations/0001-appointment.sql',
  'deedwire/patient/2026-11-01.ts',
  'deedwire/patient/own/2026-11-01.graphql',
  'deedwire/patient/own/2026-11-01.manifest.json',
  'deedwire/service.ts',
];
const textOf = (path: string): string => readFileSync(join(example, path), 'utf8');

const server = await forFile(startPostgres());
const clinic = await forFile(createClinic());
const urlOf = (login: string, database = 'clinic'): string => {
  const url = new URL(server.url);
  [url.username, url.password, url.pathname] = [login, 'secret', `/${database}`];
  return url.href;
};
const devUrl = new URL('/clinic_dev', server.url).href;
const port = await findFreePort();
const graphqlUrl = `http://127.0.0.1:${port}/patient/graphql`;
const secret = `whsec_${randomBytes(24).toString('base64')}`;

async function createClinic() {
  const home = await mkdtemp(join(tmpdir(), 'deedwire-clinic-'));
  const folder = join(home, 'my-clinic');
  await mkdir(join(folder, 'vendor'), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), tsconfig);
  for (const tarball of await tarballsOf(['@deedwire/webhook-signing', '@deedwire/service']))
    await copyFile(tarball, join(folder, 'vendor', basename(tarball)));
  return { folder, remove: () => rm(home, { recursive: true }) };
}

const environment = (env: Readonly<Record<string, string>>) => ({
  ...quietNpm,
  // Without it, what is installed would find packages of this workspace.
  NODE_PATH: '',
  PATH: `${join(clinic.folder, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`,
  // On a busy machine, any statement can be slow.
  DATABASE_TIMEOUT_MS: '20000',
  ...env,
});

/** Runs a block of the page, with the port of this test. */
const run = (block: string, env: Readonly<Record<string, string>> = {}): Promise<string> =>
  succeed('sh', ['-ec', block.replaceAll('127.0.0.1:4004', `127.0.0.1:${port}`)], {
    cwd: clinic.folder,
    env: environment(env),
  });

/** Starts a command of the page. */
function start(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd: clinic.folder,
    env: { ...process.env, ...environment(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  return {
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const sql = (statement: string, values: readonly unknown[] = []) =>
  runOnce(urlOf('clinic_owner').replace(/$/, '?options=-c%20search_path%3Ddeedwire'), statement, values);

/** Applies the blocks of changes of a section to the files in a folder, each to the one that the text before it names. */
async function applyDiffs(section: string, folder: string): Promise<void> {
  const [, text = ''] = new RegExp(`^## ${section}\\n([^]*?)^## `, 'm').exec(page) ?? [];
  let path = '';
  for (const [, named, diff] of text.matchAll(/`(deedwire\/[^`]+\.\w+)`|^```diff\n([^]*?)^```$/gm)) {
    path = named ?? path;
    if (diff === undefined || dirname(path) !== folder) continue;
    const file = join(clinic.folder, path);
    const lines = diff.split('\n').filter((line) => line !== '');
    const without = (sign: string) => lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
    const before = await readFile(file, 'utf8');
    const [old, changed] = [without('+').join('\n'), without('-').join('\n')];
    expect(before).toContain(old);
    await writeFile(file, before.replace(old, changed));
  }
}

test('the page makes the example, from `npm install` to types that compile', async () => {
  // That of the other page is what `pnpm packages` prints: `webhooks-for-your-application.test.ts`.
  const other = readFileSync(join(workspaceRoot, 'docs/webhooks-for-your-application.md'), 'utf8');
  expect(install).toContain(commandsOf(other, 'Install', 2)[1]);
  await run(install);
  const files = await run(init);
  expect(files).toContain('wrote  deedwire/patient/own/2026-11-01.graphql\n');
  expect(files).toContain('added  @graphql-codegen/typescript in package.json\n');

  for (const path of written) {
    const text = textOf(path);
    expect(page).toContain(`\n${text}\`\`\`\n`);
    await mkdir(dirname(join(clinic.folder, path)), { recursive: true });
    await writeFile(join(clinic.folder, path), text);
  }
  await run(forgetExample);
  await run(generateTypes);
  await run(checkCode);
  const inExample = globSync('deedwire/**/*.{graphql,ts,json,sql}', { cwd: example });
  const ofExample = inExample.filter((each) => !each.endsWith('.json')).map((path) => [path, textOf(path)]);
  const made = await Promise.all(
    ofExample.map(async ([path = '']) => [path, await readFile(join(clinic.folder, path), 'utf8')]),
  );
  expect(made).toEqual(ofExample);
  const inClinic = globSync('deedwire/**/*.{graphql,ts,json,sql}', { cwd: clinic.folder });
  expect(inClinic.toSorted()).toEqual(inExample.toSorted());
});

test('the example has at most 200 lines that people wrote, and no `any`', () => {
  const texts = written.map(textOf);
  expect(texts.join('').split('\n').length - 1).toBeLessThanOrEqual(200);
  expect(texts.filter((text) => /\bany\b/.test(text))).toEqual([]);
});

test('`dev --receiver` prints the event at the version that a subscription has, and at the preview once it moves there', async () => {
  await withClient(server.url, (client) => client.query('create database clinic_dev'));
  const env = { DATABASE_URL: devUrl };
  const running = start(dev.trim(), { ...env, PATIENT_API_PORT: String(port) });
  onTestFinished(() => running.stop());
  await expect.poll(running.output).toContain('Deedwire is running');
  const answers = await run(bookAndAsk, env);
  expect(answers).toContain('"userErrors":[]');
  expect(answers).toMatch(
    /"appointments":\[\{"id":"gid:\/\/clinic\/Appointment\/\d+","startsAt":"2099-03-01T09:00:00.000Z","reason":"Fever"\}\]/,
  );
  await expect.poll(running.output).toContain(received);
  expect(await run(moveSubscription, env)).toContain('"userErrors":[]');
  const [, again = ''] = bookAndAsk.split(/(?=^curl)/m);
  expect(await run(again.replace('03-01', '03-02').replace('k-1', 'k-2'), env)).toContain('"userErrors":[]');
  await expect.poll(running.output).toContain('received appointment.booked 2027-02-01, with a valid signature');
});

test('a second date of the interface is a copy with the changes of the page, and passes what CI runs', async () => {
  await applyDiffs('Another date', 'deedwire');
  expect(await run(beginVersion)).toContain('deedwire/patient/own/2027-02-01.graphql');
  for (const folder of ['deedwire/patient/own', 'deedwire/patient']) await applyDiffs('Another date', folder);
  const [generate = '', ...checks] = checkVersion.split(/(?<=\n)/);
  await run(generate);
  expect(inCi).toBe([...checks, runTest].join(''));
  // The login may create roles, and the server has those of `dev`. Those of the test leave with its database.
  expect(await run(inCi, { DATABASE_URL: server.url })).toMatch(/pass 1$/m);
  expect(await runOnce(server.url, `select rolname from pg_roles where rolname like '%webhook\\_worker'`)).toEqual([
    { rolname: 'clinic_webhook_worker' },
  ]);
});

const keys = `k1:${randomBytes(32).toString('base64')}`;

/** The key of a new patient. */
async function newPatient(externalId: string): Promise<Credential> {
  await sql(`select create_account('patient', $1, 'Ada')`, [externalId]);
  const printed = await run(`deedwire operator credential issue --account ${externalId} --json`, {
    DATABASE_URL: urlOf('clinic_owner'),
  });
  return JSON.parse(printed);
}

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

const booked = (id: unknown, input: object) => ({
  bookAppointment: { appointment: { id, ...input }, userErrors: [] },
});
const refused = (code: string, field: string) => ({
  bookAppointment: {
    appointment: null,
    userErrors: [{ code, field: ['input', field], message: expect.any(String) }],
  },
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

/** What a page shows, where a `…` stands for what differs each time. */
const shown = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll(/[.{}()]/g, String.raw`\$&`).replaceAll('…', '.+')}$`);

const counts = () =>
  sql(`select (select count(*)::int from appointment) as appointments,
    (select count(*)::int from webhook_event where event_type = 'appointment.booked') as events,
    (select count(*)::int from audit_entry where action = 'appointment.book') as entries,
    (select count(*)::int from idempotency_key where mutation = 'bookAppointment') as keys`);

describe('in production, without the development dependencies', () => {
  let ada: Credential;
  beforeAll(async () => {
    // Its login may create roles, which the database of production needs.
    await runOnce(devUrl, await run('deedwire remove'));
    const [, installInImage = ''] = /^RUN (npm .*)$/m.exec(page) ?? [];
    await run(installInImage);
    await withClient(server.url, async (client) => {
      await client.query(`create role clinic_owner login createrole password 'secret'`);
      await client.query('create database clinic owner clinic_owner');
    });
    const [migrate = '', ...commands] = deployed.trim().split('\n');
    await run(migrate, { DATABASE_URL: urlOf('clinic_owner') });
    await withClient(server.url, async (client) => {
      for (const app of ['patient_api', 'webhook_worker'])
        await client.query(`create role a_${app} login password 'secret' in role clinic_${app}`);
    });
    ada = await newPatient('p-1');
    const apps = commands.map((command) =>
      start(command, {
        DATABASE_URL: urlOf(command.endsWith('worker') ? 'a_webhook_worker' : 'a_patient_api'),
        // For a receiver on this machine.
        NODE_ENV: 'development',
        WEBHOOK_CALLBACK_POLICY: 'development',
        PORTAL_ORIGIN: `http://127.0.0.1:${port}`,
        WEBHOOK_SECRET_KEYS: keys,
        LOG_LEVEL: 'warn',
        PORT: String(port),
        ADMIN_PORT: '0',
      }),
    );
    const isReady = async () => {
      const { status } = await ask(ada, '{ appointments { id } }');
      if (status !== 200) throw new Error(`The interface answers ${status}.`);
    };
    await eventually(isReady).catch((error: unknown) => {
      throw new Error(apps.map((app) => app.output()).join('\n'), { cause: error });
    });
    return async () => {
      for (const app of apps) await app.stop();
    };
  });

  test('no library of `generate` is installed', () => {
    expect(existsSync(join(clinic.folder, 'node_modules/@graphql-codegen'))).toBe(false);
  });

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

  test('the mutation of the README causes the webhook beside it', async () => {
    const readme = readFileSync(join(workspaceRoot, 'README.md'), 'utf8');
    const [, mutation = ''] = /^```graphql\n([^]*?)^```$/m.exec(readme) ?? [];
    const [, head = '', body = ''] = /^```http\nPOST \S+ HTTP\/1\.1\n([^]*?)\n\n([^]*?)\n```$/m.exec(readme) ?? [];
    const receiver = await subscribe(ada, '2026-11-01');
    const { data } = await ask(ada, mutation.replace(/"20[^"]+"/, JSON.stringify(inDays(7))));
    expect(data).toMatchObject({ bookAppointment: { userErrors: [] } });
    const [delivery] = await receiver.waitFor(1);
    for (const [name = '', value = ''] of head.split('\n').map((line) => line.split(/: (.*)/)))
      expect(delivery?.headers[name]).toMatch(shown(value));
    expect(delivery?.body.toString()).toMatch(shown(body));
  });

  test('the portal says what the versions of the event change', async () => {
    const portal = `http://127.0.0.1:${port}/patient/portal/1/`;
    const html = await (await fetch(portal)).text();
    const [, path = ''] = /<meta name="payload-changes" content="([^"]+)"/.exec(html) ?? [];
    const changes: unknown = await (await fetch(new URL(path, portal))).json();
    expect(changes).toEqual({
      'appointment.booked 2026-11-01 2027-02-01': [
        { path: 'data.appointmentId', before: 'string', after: null },
        { path: 'data.startsAt', before: 'string, date-time', after: null },
        { path: 'data.appointment', before: null, after: 'object' },
        { path: 'data.appointment.id', before: null, after: 'string' },
        { path: 'data.appointment.startsAt', before: null, after: 'string, date-time' },
        { path: 'data.appointment.reason', before: null, after: 'string' },
      ],
    });
  });

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
    const codes = answers.map(
      ({ data }) => JSON.parse(JSON.stringify(data)).bookAppointment.userErrors[0]?.code ?? null,
    );
    expect(codes).toContain(null);
    expect(codes.filter((code) => code !== null && code !== 'IDEMPOTENCY_IN_PROGRESS')).toEqual([]);
    const added = Object.fromEntries(Object.entries(before[0] ?? {}).map(([name, count]) => [name, Number(count) + 1]));
    expect(await counts()).toEqual([added]);
  });

  test('the second date of the interface is served to clients that ask for it', async () => {
    const input = { startsAt: inDays(6), reason: 'Feber' };
    await book(ada, { ...input, idempotencyKey: 'k-6' });
    const query = '{ appointments { startsAt note } }';
    const headers = { 'X-Clinic-Schema-Version': '2027-02-01' };
    const { body } = await postGraphql(graphqlUrl, ada, { query, headers, prefix: 'X-Clinic' });
    expect(body.data?.['appointments']).toContainEqual({ startsAt: input.startsAt, note: 'Feber' });
    expect((await ask(ada, query)).errors).toMatchObject([{ message: expect.stringContaining('note') }]);
    // The result that is saved has no note.
    const again = 'mutation ($input: BookAppointmentInput!) { bookAppointment(input: $input) { userErrors { code } } }';
    const variables = { input: { ...input, idempotencyKey: 'k-6' } };
    const repeated = await postGraphql(graphqlUrl, ada, { query: again, variables, headers, prefix: 'X-Clinic' });
    expect(repeated.body.data).toEqual({ bookAppointment: { userErrors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }] } });
  });
});
