import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, startPostgres, withClient } from '@deedwire/embedded-postgres';
import { type Credential, eventually, postGraphql, runOnce, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// An application outside of the workspace asks whether its next builds fit what runs, by its commands.

const server = await forFile(startPostgres());
/** Of the only login, as most applications have it. */
const databaseUrl = Object.assign(new URL('/clinic', server.url), { username: 'clinic', password: 'secret' }).href;
const { path: folder } = await forFile(temporaryFolder('application-can-i-deploy'));
const port = await findFreePort();
const packages = join(workspaceRoot, 'packages');
const env = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NODE_ENV: 'development',
  DATABASE_URL: databaseUrl,
  DATABASE_TIMEOUT_MS: '20000',
  LOG_LEVEL: 'warn',
  PORT: String(port),
  ADMIN_PORT: '0',
  WEBHOOK_CALLBACK_POLICY: 'development',
  WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
};

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program of the workspace from its sources. */
const execute = (bin: string, args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=deedwire-source', join(packages, bin), ...args], {
    cwd: folder,
    env,
  });

/** Resolves with the exit code and what is printed. */
const run = (bin: string, ...args: readonly string[]): Promise<{ code: number; output: string }> =>
  execute(bin, args).then(
    ({ stdout, stderr }) => ({ code: 0, output: `${stdout}${stderr}` }),
    ({ code, stdout, stderr }: Ended) => ({ code, output: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ') }),
  );

// A busy machine can bring warnings to the standard error.
const deedwire = async (...args: readonly string[]): Promise<string> =>
  (await execute('service/src/bin.ts', args)).stdout;

let credential: Credential;
beforeAll(async () => {
  await cp(join(workspaceRoot, 'examples/clinic/deedwire'), join(folder, 'released'), { recursive: true });
  await cp(join(folder, 'released'), join(folder, 'deedwire'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "version": "1.0.0" }');
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  await symlink(join(packages, 'service'), join(folder, 'node_modules/@deedwire/service'));
  await withClient(server.url, async (client) => {
    await client.query(`create role clinic login password 'secret'`);
    await client.query('create database clinic owner clinic');
  });
  await deedwire('migrate');
  const [row] = await runOnce(databaseUrl, `select deedwire.create_account('patient', 'p-1', 'Ada') as gid`);
  credential = JSON.parse(
    await deedwire('operator', 'credential', 'issue', '--account', String(row?.['gid']), '--json'),
  );
  const bin = ['--conditions=deedwire-source', join(packages, 'service/src/bin.ts')];
  const processes = [['interface', 'patient'], ['worker']].map((command) =>
    spawn(process.execPath, [...bin, ...command], { cwd: folder, env, stdio: 'ignore' }),
  );
  const registered = `select app from deedwire.app_process p join deedwire.app_contracts c using (app, digest) order by app`;
  await eventually(async () => {
    const apps = (await runOnce(databaseUrl, registered)).map(({ app }) => app);
    if (apps.join() !== 'operator-cli,patient-api,webhook-worker') throw new Error(`Registered: ${apps.join()}`);
  });
  const receiver = await startReceiver();
  await eventually(() => subscribe(receiver.url));
  return async () => {
    for (const child of processes) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'close');
    }
    await receiver.close();
  };
});
beforeEach(async () => {
  await cp(join(folder, 'released'), join(folder, 'deedwire'), { recursive: true });
});

async function subscribe(callbackUrl: string): Promise<void> {
  const query = `mutation Subscribe($input: CreateWebhookSubscriptionInput!) {
    createWebhookSubscription(input: $input) { userErrors { code message } }
  }`;
  const input = {
    callbackUrl,
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
    eventTypes: [{ type: 'appointment.booked', version: '2027-02-01' }],
  };
  const { body } = await postGraphql(`http://127.0.0.1:${port}/patient/graphql`, credential, {
    query,
    variables: { input },
    prefix: 'X-Clinic',
  });
  expect(body).toMatchObject({ data: { createWebhookSubscription: { userErrors: [] } } });
}

async function edit(path: string, from: RegExp | string, to: string): Promise<void> {
  const file = join(folder, 'deedwire', path);
  const text = await readFile(file, 'utf8');
  if (text.replace(from, to) === text) throw new Error(`${path} has no ${String(from)}.`);
  await writeFile(file, text.replace(from, to));
}

/** Writes what the build of now can do, and asks about some of its apps. */
async function canIDeploy(...apps: readonly string[]) {
  await deedwire('contracts', 'build');
  await deedwire('operator', 'environment', 'export', '--name', 'production', '--out', 'production.json');
  const builds = apps.flatMap((app) => ['--build', `build/${app}.json`]);
  return run('contract-check/src/bin.ts', 'can-i-deploy', '--environment', 'production.json', ...builds);
}

test('the build that runs can be deployed', async () => {
  expect(await canIDeploy('webhook-worker', 'patient-api')).toEqual({ code: 0, output: expect.stringMatching(/^yes/) });
});

test('a worker that no longer renders what a customer pins cannot', async () => {
  await edit('service.ts', /'2027-02-01': \{[^]*?\n {4}\},/, '');
  expect(await canIDeploy('webhook-worker')).toEqual({
    code: 1,
    output: expect.stringMatching(/^no: .*cannot render appointment\.booked@2027-02-01, which \S+ pins/),
  });
});

test('an interface without what a client of its version can use cannot', async () => {
  await edit('patient/own/2026-11-01.graphql', /(type Appointment \{[^}]*) {2}startsAt: DateTime!\n/, '$1');
  await deedwire('generate');
  expect(await canIDeploy('patient-api')).toEqual({
    code: 1,
    output: expect.stringMatching(/^no: .*breaks Appointment\.startsAt of patient@2026-11-01/),
  });
});

test('an interface that accepts a version of an event can after the worker that renders it', async () => {
  await edit(
    'service.ts',
    "'2027-02-01': {",
    "'2027-01-01': { status: 'preview', data: z.object({}), render: () => ({}) },\n    '2027-02-01': {",
  );
  expect(await canIDeploy('patient-api')).toEqual({
    code: 1,
    output: expect.stringMatching(
      /^no: .*appointment\.booked@2027-01-01, which patient-api.* accepts.*Deploy .*webhook-worker/,
    ),
  });
  expect(await canIDeploy('webhook-worker')).toMatchObject({ code: 0 });
});
