import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppName } from '@deedwire/dev-environment';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { createLogin, startPostgres } from '@deedwire/embedded-postgres';
import { type Credential, missing, postGraphql, startReceiver } from '@deedwire/testing';
import { parseWebhookBody } from '@deedwire/webhook-events';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../../../packages/contract-check/src/cli/run.ts';
import setup from '../support/built-workspace.ts';
import { succeed } from '../support/command.ts';
import { subscribe } from '../support/subscribe.ts';
import { copyWorkspace, workspaceRoot, type WorkspaceCopy } from '../support/workspace-copy.ts';

// Adds an interface in a copy of this workspace, as CONTRIBUTING.md says. The tests of each name build on each other.

// Guard against hanging only: a test runs every check.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_200_000 });

const contributing = readFileSync(join(workspaceRoot, 'CONTRIBUTING.md'), 'utf8');
const [, verification = missing()] = /^```bash\n([^]*?)^```$/m.exec(contributing) ?? [];
const version = new Date().toISOString().slice(0, 10);

const added = [
  { name: 'vendor', title: 'Vendor', account: 'VendorAccount', snake: 'vendor', camel: 'vendor' },
  {
    name: 'billing-statement',
    title: 'Billing statement',
    account: 'BillingStatement',
    snake: 'billing_statement',
    camel: 'billingStatement',
  },
];

describe.each(added)('$name', ({ name, title, account, snake, camel }) => {
  let workspace: WorkspaceCopy;
  beforeAll(async () => {
    workspace = await copyWorkspace({});
  });
  afterAll(() => workspace.remove());

  const linesOf = (pattern: string): string[] =>
    globSync(pattern, { cwd: workspace.folder }).flatMap((path) =>
      readFileSync(join(workspace.folder, path), 'utf8').split('\n'),
    );

  test('`pnpm new interface` writes files of which `pnpm check` names only the TODOs', async () => {
    const startedAt = performance.now();
    const command = ['new', 'interface', name, '--title', title, '--account', account];
    const output = await workspace.pnpm(...command);
    // pnpm does it before each script, but not for one that another script runs.
    await workspace.pnpm('install', '--prefer-offline', '--no-frozen-lockfile');
    const checked = await workspace.pnpm('check').catch(String);
    expect(performance.now() - startedAt).toBeLessThan(90_000);

    const written = (await workspace.git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n');
    const shown = written
      .filter((line) => !line.endsWith('pnpm-lock.yaml'))
      .map((line) => line.slice(3).replace(/(?<=\/examples\/[\d-]+\/).*/, ''));
    expect(
      [...output.matchAll(/^ {2}(?! )(.+)$/gm)]
        .map(([, path = '']) => path)
        .slice(0, -2)
        .toSorted(),
    ).toEqual([...new Set(shown)].toSorted());
    expect(Array.from(checked.matchAll(/^FAILED (.+) \(.*\)$/gm), ([, failed]) => failed)).toEqual(['TODOs']);
    expect(Array.from(checked.matchAll(/^([^:\n]+):\d+:.*\bTODO\b/gm), ([, file = '']) => file).toSorted()).toEqual(
      [
        `.changeset/${name}.md`,
        `packages/${name}-schema/README.md`,
        `packages/${name}-schema/versions/${version}.graphql`,
        `packages/actions/src/${name}.ts`,
      ].toSorted(),
    );

    // The half about webhooks is that of the other interfaces.
    const shared = new Set(linesOf('packages/lender-schema/versions/*.graphql'));
    const own = [
      ...linesOf(`apps/${name}-api/src/**/*.ts`),
      ...linesOf(`packages/{store,actions}/src/${name}.ts`),
      ...linesOf(`packages/*/src/${snake}.updated/*.ts`),
      ...linesOf(`packages/${name}-schema/src/*.ts`),
      ...linesOf(`packages/store/migrations/*${name}.sql`),
      ...linesOf(`packages/${name}-schema/versions/*.graphql`).filter((line) => !shared.has(line)),
    ];
    expect(own.length).toBeLessThan(900);

    const again = await workspace.pnpm(...command).catch(String);
    expect(again).toContain(`The ${name} interface exists.`);
    expect((await workspace.git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n')).toEqual(
      written,
    );
  });

  test('passes every check once the TODOs are written, and changes no contract of the others', async () => {
    for (const [path, sentence] of [
      [`.changeset/${name}.md`, 'The interface is new.'],
      [`packages/${name}-schema/README.md`, 'For the suppliers of the firm.'],
      [`packages/actions/src/${name}.ts`, '// Clients change their name.'],
    ] as const)
      await workspace.edit(path, (text) => text.replace(/^.*\bTODO\b.*$/m, sentence));
    await workspace.edit(`packages/${name}-schema/versions/${version}.graphql`, (text) =>
      text.replace(/ TODO: .*$/m, ' It supplies the firm.'),
    );
    await succeed('bash', ['-euo', 'pipefail', '-c', verification], { cwd: workspace.folder });
    const others = [
      'packages/lender-schema',
      'packages/partner-schema',
      'packages/webhook-events/json-schema',
      '*/releases.json',
    ];
    expect(await workspace.git('diff', '--name-only', '--', ...others)).toBe('');
  });

  test('passes its own tests, and those of the isolation of interfaces', async () => {
    await workspace.commitAll('Add an interface');
    const files = [
      `tools/contract-tests/test/${name}-api`,
      'tools/contract-tests/test/foreign-deliveries.test.ts',
      'tools/contract-tests/test/rejected-requests.test.ts',
      'packages/store/test/interfaces.test.ts',
      'packages/store/test/migrate.test.ts',
      'packages/store/test/rights.test.ts',
      'packages/store/test/roles.test.ts',
      'packages/store/test/row-security.test.ts',
    ];
    const output = await workspace.pnpm('exec', 'vitest', 'run', '--project', 'integration', ...files);
    expect(output).toContain(`${name}-api.test.ts`);
  });

  test('`pnpm dev` serves each interface to its own keys, and delivers its event', async () => {
    const home = await workspace.scratchFolder();
    const names = ['lender', 'partner', name];
    const variables = names.map((each) => each.replaceAll('-', '_').toUpperCase());
    const ports = variables.flatMap((each) => [`${each}_API_PORT`, `${each}_API_ADMIN_PORT`]);
    const env = Object.fromEntries([...ports, 'WEBHOOK_WORKER_PORT'].map((each) => [each, '0']));
    const dev = spawn(process.execPath, ['--conditions=deedwire-source', 'tools/dev-environment/src/dev.ts'], {
      cwd: workspace.folder,
      env: { ...process.env, ...env, DEEDWIRE_HOME: home },
      stdio: 'inherit',
    });
    const ended = once(dev, 'exit');
    onTestFinished(async () => {
      dev.kill('SIGINT');
      await ended;
    });
    const file: Record<string, Credential & { url: string }> = JSON.parse(
      await Promise.race([
        vi.waitFor(() => readFile(join(home, 'dev.json'), 'utf8'), { timeout: 240_000, interval: 200 }),
        ended.then(() => Promise.reject(new Error('`pnpm dev` ended.'))),
      ]),
    );

    const results: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const served of names)
      for (const caller of names) {
        const credential = file[caller] ?? missing();
        const wrong = { ...credential, apiKey: credential.apiKey.replace(/.$/, (last) => (last === '0' ? '1' : '0')) };
        const { url } = file[served] ?? missing();
        const response = await postGraphql(url, credential, { query: '{ __typename }' });
        const refused = await postGraphql(url, wrong, { query: '{ __typename }' });
        results[`${caller} to ${served}`] = [
          response.status,
          response.body.errors?.[0]?.extensions.code,
          refused.status,
        ];
        expected[`${caller} to ${served}`] = served === caller ? [200, undefined, 401] : [403, 'WRONG_INTERFACE', 401];
      }
    expect(results).toEqual(expected);

    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const own = file[name] ?? missing();
    expect((await fetch(new URL('portal/1/', own.url))).status).toBe(200);
    const send = async <Data>(query: string, input: object): Promise<Data> =>
      (await postGraphql<Data>(own.url, own, { query, variables: { input } })).body.data ?? missing();
    const { createWebhookSubscription } = await send<{ createWebhookSubscription: { webhookSecret: string } }>(
      `mutation ($input: CreateWebhookSubscriptionInput!) {
        createWebhookSubscription(input: $input) { webhookSecret userErrors { message } }
      }`,
      { callbackUrl: receiver.url, eventTypes: [{ type: `${snake}.updated`, version }] },
    );
    const pascal = camel.replace(/^./, (letter) => letter.toUpperCase());
    const changed = await send(
      `mutation ($input: Update${pascal}Input!) { update${pascal}(input: $input) { ${camel} { id name } } }`,
      { name: 'Harbour Supplies' },
    );
    expect(changed).toEqual({
      [`update${pascal}`]: { [camel]: { id: expect.stringContaining(`/${account}/`), name: 'Harbour Supplies' } },
    });
    const [delivery] = await receiver.waitFor(1);
    const body = String(delivery?.body);
    verifyWebhook({ headers: delivery?.headers ?? {}, body, secret: createWebhookSubscription.webhookSecret });
    // The parser of this workspace does not know the type, as that of an earlier release.
    expect(parseWebhookBody(body)).toMatchObject({ kind: 'unknown_event', event: { type: `${snake}.updated` } });
  });

  test('builds without it go on beside a database with it, and its app waits for a worker that knows it', async () => {
    const app: string = `${name}-api`;
    const filters = [app, 'webhook-worker'].map((each) => `--filter=@deedwire/${each}`);
    await workspace.pnpm('build', ...filters);
    await setup();
    const server = await startPostgres();
    const lines: string[] = [];
    const t = await startTestSystem({ server, built: true, onLine: (_, line) => lines.push(line) });
    onTestFinished(() => t.close());
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    await subscribe(t.partner, { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.created' }] });
    const refer = async (count: number): Promise<void> => {
      const query = 'mutation { createReferral(input: { clientName: "Grace Hopper" }) { userErrors { code } } }';
      expect((await postGraphql(t.urls.partner, t.accounts.partner.credential, { query })).body.errors).toBeUndefined();
      await receiver.waitFor(count);
    };
    await refer(1);

    const operator = ['--conditions=deedwire-source', 'apps/operator-cli/src/main.ts'];
    const operate = async (url: string, ...command: string[]): Promise<string> =>
      succeed(process.execPath, [...operator, ...command], { cwd: workspace.folder, env: { DATABASE_URL: url } });
    await operate(server.url, 'database', 'migrate');
    await refer(2);
    const old = t.system.apps['webhook-worker'];
    await t.system.apps['partner-api'].stop();
    await t.system.restart('partner-api');
    await refer(3);

    // Its name is not on the list of this workspace.
    const starting = t.system.add(
      app as AppName,
      { DATABASE_URL: await createLogin(server.url, `${snake}_login`, `${snake}_api`) },
      workspace.folder,
      true,
    );
    const { version: workerVersion } = JSON.parse(
      readFileSync(join(workspaceRoot, 'apps/webhook-worker/package.json'), 'utf8'),
    );
    const problem = `webhook-worker ${workerVersion} runs and does not know the ${name} interface; deploy the webhook-worker before ${app}`;
    await vi.waitFor(() => expect(lines.join('\n')).toContain(problem), { timeout: 60_000, interval: 200 });
    const operatorUrl = await createLogin(server.url, 'operator_login', 'operator');
    await expect(operate(operatorUrl, 'database', 'check')).rejects.toThrow(problem);
    await old.stop();
    await t.system.add('webhook-worker', {}, workspace.folder, true);
    await starting;
    await refer(4);

    // The old worker would leave its events waiting.
    await t.sql(`update use_counting set counted_from = now() - interval '2 days'`);
    const environment = join(await workspace.scratchFolder(), 'test.json');
    const ask = async (root: string, build: string): Promise<string> => {
      await operate(operatorUrl, 'environment', 'export', '--name', 'test', '--out', environment);
      const question = ['--environment', environment, '--format', 'json', '--unused-for', '1d'];
      const contracts = join(root, 'apps', build, 'dist/contracts.json');
      const { stdout } = await run(['can-i-deploy', '--root', root, ...question, '--build', contracts]);
      const { answer, findings } = JSON.parse(stdout);
      return [answer, ...findings.map(({ rule }: { rule: string }) => rule)].join(' ');
    };
    await vi.waitFor(async () => expect(await ask(workspace.folder, app)).toBe('yes'), 60_000);
    expect(await ask(workspace.folder, 'webhook-worker')).toBe('yes');
    expect(await ask(workspaceRoot, 'webhook-worker')).toMatch(/^no deploy\/typeUnknown/);
  });

  test('it gets an event type and further versions as the others do', async () => {
    const later = '2027-06-01';
    for (const args of [
      ['event', `${snake}.closed`, later, name],
      ['event-version', `${snake}.updated`, later],
      ['interface-version', name, later],
    ]) {
      await workspace.pnpm('new', ...args);
      await workspace.commitAll(args.join(' '));
    }
    const { output } = await workspace
      .pnpm('check')
      .then((text) => ({ output: text }))
      .catch((error: unknown) => ({ output: String(error) }));
    expect(Array.from(output.matchAll(/^FAILED (.+) \(.*\)$/gm), ([, failed]) => failed)).toEqual(['TODOs']);
  });
});
