import { execFile } from 'node:child_process';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { firm, interfaceNames } from '@deedwire/firm';
import type { SampleRecords } from '@deedwire/firm/seed';
import { postGraphql } from '@deedwire/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { ofAccountsOf } from '../../../src/account-key.ts';
import type { DevFile } from '../../../src/dev-file.ts';
import { isSiteBuilt } from '../../../src/documentation.ts';
import { type AccountKey, type AppName, callOperator, perApp } from '../../../src/firm/system.ts';
import { createDevHome, type DevHome, type DevProcess } from '../../dev-process.ts';
import { printedCommand } from '../../printed-command.ts';
import { runForId, waitForWebhook } from '../operator-commands.ts';

// A start takes some seconds of CPU time, so these tests share two of them, in this order. `test/long/dev.test.ts` has more, of the test service.
const operator = 'npx -y pnpm@0.0.0 operator';
type FirmFile = DevFile<AccountKey, AppName, SampleRecords>;

let home: DevHome<FirmFile>;
let first: DevProcess;
let file: FirmFile;
beforeAll(async () => {
  home = await createDevHome<FirmFile>({ interfaceNames });
  first = home.start({}, { commandArguments: ['--receiver'] });
  file = await home.whenReady(first);
  return () => home.remove();
});

describe('the first start', () => {
  test('writes dev.json with valid credentials and with exactly the fields that scripts rely on', async () => {
    const caller = {
      url: expect.stringContaining('http://127.0.0.1:'),
      clientId: expect.any(String),
      apiKey: expect.any(String),
      organizationId: expect.any(String),
    };
    const adminUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(file).toEqual({
      ...(await ofAccountsOf(firm, () => caller)),
      admin: await perApp(() => adminUrl),
      databaseUrl: expect.stringMatching(/^postgres:.*search_path%3D%22deedwire%22/),
      webhookSecretKeys: expect.stringMatching(/^dev:/),
      referrals: expect.arrayContaining([expect.stringMatching(/^gid:\/\/service\/Referral\/\d+$/)]),
    });
    expect(file.referrals.length).toBeGreaterThanOrEqual(20);
    expect(file.otherLender.organizationId).not.toBe(file.lender.organizationId);
    expect(file.otherPartner.organizationId).toBe(file.otherLender.organizationId);
    expect((await stat(join(home.path, 'dev.json'))).mode & 0o777).toBe(0o600);

    for (const lender of [file.lender, file.otherLender]) {
      expect(await postGraphql(lender.url, lender, { query: '{ lender { name } }' })).toMatchObject({
        status: 200,
        body: { data: { lender: { name: expect.any(String) } } },
      });
    }
    for (const partner of [file.partner, file.otherPartner]) {
      expect(await postGraphql(partner.url, partner, { query: '{ partner { name } }' })).toMatchObject({
        status: 200,
        body: { data: { partner: { name: expect.any(String) } } },
      });
    }
    const [id] = file.referrals;
    expect(
      (await postGraphql(file.partner.url, file.partner, { query: `{ referral(id: "${id}") { id status } }` })).body,
    ).toEqual({
      data: { referral: { id, status: 'OPEN' } },
      extensions: expect.any(Object),
    });
    for (const url of Object.values(file.admin)) expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  test('has errors that link to a page of this tree, or of the site if it was built', async () => {
    const { body } = await postGraphql(file.partner.url, file.partner, { query: '{ nothing }' });
    const url = new URL(body.errors?.[0]?.extensions.documentationUrl ?? '');
    expect(url.hash).toBe('#graphql_validation_failed');
    if (!isSiteBuilt()) return access(url);
    expect(first.output()).toContain(`Serving the documentation at ${url.href.replace(/errors\.md#.*$/, '')}\n`);
    expect((await fetch(url)).status).toBe(200);
  });

  test('ends with commands that run unchanged, on a screen of 80 columns, without a secret', async () => {
    const pattern = /^Deedwire is running\.[^]*^docs\/quickstart\.md.*$/m;
    await expect.poll(first.output).toMatch(pattern);
    const [text = ''] = pattern.exec(first.output()) ?? [];
    const lines = text.split('\n');
    expect(lines.length).toBeLessThan(18 + 3 * interfaceNames.length);
    expect(first.output().match(/^receiver +answered the handshake; its signature verifies$/gm)).toHaveLength(
      interfaceNames.length,
    );
    // The folder of this test is longer than the usual `.local`.
    expect(lines.filter((line) => line.replaceAll(home.path, '.local').length > 80)).toEqual([]);
    expect(text).not.toMatch(new RegExp(`${file.partner.apiKey}|${file.lender.apiKey}|whsec_`));
    const [block = ''] = /^\. .*dev\.env\n(?:.+\n)+/m.exec(text) ?? [];
    const [query = ''] = block.split(/(?=^npx )/m);
    const { stdout } = await promisify(execFile)('sh', ['-c', query]);
    const referral = { id: expect.stringContaining('/Referral/'), clientName: expect.any(String), status: 'OPEN' };
    const nodes = [referral, referral, referral];
    expect(JSON.parse(stdout)).toEqual({ data: { referrals: { nodes } }, extensions: expect.any(Object) });
    expect(await runForId(home, await printedCommand(first))).toMatch(/^gid:\/\/service\/Referral\/\d+$/);
  });

  test('writes the same variables for the lender', async () => {
    const query = 'curl -sS "$DEEDWIRE_URL" -H "X-Service-Client-Id: $CLIENT_ID" -H "X-Service-API-Key: $API_KEY"';
    const rest = `-H "X-Service-Organization-Id: $ORGANIZATION_ID" -H 'Content-Type: application/json'`;
    const command = `. ${home.path}/lender.env; echo "$LENDER_ID"; ${query} ${rest} -d '{"query":"{ lender { id } }"}'`;
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    const [lenderId = '', response = ''] = stdout.split('\n');
    expect(JSON.parse(response).data).toEqual({ lender: { id: lenderId } });
  });

  // Only Linux reports which process is the worker.
  test.skipIf(process.platform !== 'linux')('restarts an app that ends, on the same port', async () => {
    const [pid] =
      home
        .processes()
        .find((line) => line.includes('apps/webhook-worker'))
        ?.split(' ') ?? [];
    process.kill(Number(pid), 'SIGKILL');
    await expect.poll(first.output).toContain('webhook-worker ended (SIGKILL)');
    await expect.poll(() => fetch(`${file.admin['webhook-worker']}/ready`)).toMatchObject({ status: 200 });
  });

  test('makes another start on the same home exit with 1 and the reason', async () => {
    const second = home.start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Another \`pnpm dev\` is running in ${home.path}. Stop it, or set DEEDWIRE_HOME to another folder for this one.\n`,
    );
  });

  test('ends on SIGINT with 0 and with all its processes, and removes dev.json', async () => {
    first.signalGroup('SIGINT');
    expect(await first.ended).toBe(0);
    await expect.poll(() => home.processes()).toEqual([]);
    await expect(access(join(home.path, 'dev.json'))).rejects.toThrow('ENOENT');
  });
});

test('a second start keeps the data, and prints the webhooks', async () => {
  const second = home.start({}, { commandArguments: ['--receiver'] });
  const { lender, partner, referrals } = await home.whenReady(second);
  expect(partner.apiKey).toBe(file.partner.apiKey);
  expect(referrals).toEqual(expect.arrayContaining(file.referrals));
  const created = await runForId(home, await printedCommand(second));
  await waitForWebhook(second, 'referral.created', created);
  await waitForWebhook(second, 'referral.converted', await runForId(home, `${operator} referral convert ${created}`));
  const { body } = await postGraphql<{ lender: { id: string } }>(lender.url, lender, { query: '{ lender { id } }' });
  const member = `--lender ${body.data?.lender.id} --first-name Grace --last-name Hopper --email grace@example.com`;
  await waitForWebhook(second, 'team_member.added', await runForId(home, `${operator} member add ${member}`));

  // The commands that need the keys of webhook secrets find them.
  const operate = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await callOperator({ DEEDWIRE_HOME: home.path }, ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining('error') });
    return stdout;
  };
  const [{ id, subscriptionId }] = JSON.parse(await operate('delivery', 'list', '--json'));
  const { stdout } = await promisify(execFile)('sh', ['-c', await operate('delivery', 'show', id, '--curl')]);
  expect(stdout).toMatch(/^HTTP\/1\.1 200 /);
  expect(await operate('subscription', 'test', subscriptionId)).toContain('is queued');
  expect(await operate('subscription', 'rotate', subscriptionId)).toMatch(/^whsec_/);

  // Its processes end after it, however it ends: see `test/long/dev-ends.test.ts`.
  second.child.kill('SIGKILL');
  await expect.poll(() => home.processes()).toEqual([]);
});
