import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { succeed } from '../../support/command.ts';
import { type InstalledPackages, installPackages, readJson } from '../../support/installed-packages.ts';
import { publishedPackages } from '../../support/packed-packages.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const page = await readFile(join(workspaceRoot, 'docs/es-modules.md'), 'utf8');
const [, command = ''] = /^```sh\n(.*)\n```$/m.exec(page) ?? [];
const [esModule = '', commonJs = ''] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);

/** In the sandbox of Jest, the classes of errors and dates are not those of Node. */
const realms = `
import { runInThisContext } from 'node:vm';
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { signedRequest, testSecret } from '@deedwire/webhook-receiver/testing';
import { readSourceText } from './node_modules/@deedwire/contract-check/dist/text-file.js';

const receiver = createWebhookReceiver({ events, prefix: 'X-Service', secrets: [testSecret], store: memoryStore(), on: {}, log: { error() {}, warn() {} } });
const credentials = { clientId: 'a', apiKey: 'b', organizationId: 'c' };
const pull = graphqlPull({ prefix: 'X-Service', url: 'http://127.0.0.1:1/', credentials, subscriptionId: 'gid://service/WebhookSubscription/1' });

test('a file that does not exist', () => {
  expect(() => readSourceText('a.graphql')).toThrow('a.graphql: file not found');
});
test('a date, and the cause of a request that fails', async () => {
  const since = runInThisContext('new Date(0)');
  expect(since instanceof Date).toBe(false);
  await expect(receiver.reprocess(pull, { since, timeoutMs: 100 })).rejects.toThrow('fetch failed: bad port');
});
test('a kept request', async () => {
  const { headers, body } = await signedRequest(events, 'referral.created', '2026-11-01', { referralId: 'gid://service/Referral/1', externalReference: null }, { age: 301 });
  const bytes = Buffer.concat(await Array.fromAsync(body));
  const receivedAt = runInThisContext('new Date(Date.now() - 301_000)');
  const received = { method: 'POST', headers, body: async () => ({ kind: 'bytes', bytes }), receivedAt };
  expect(await receiver.receive(received)).toMatchObject({ status: 200 });
});
`;

let project: InstalledPackages;

beforeAll(async () => {
  const graphql = readJson(join(workspaceRoot, 'tools/contract-tests/node_modules/graphql/package.json')).version;
  project = await installPackages(publishedPackages, ['jest@30.5.2', `graphql@${graphql}`]);
  // As npm init writes it: a package of CommonJS modules.
  await project.write(
    'package.json',
    (await readFile(join(project.folder, 'package.json'), 'utf8')).replace('"module"', '"commonjs"'),
  );
  await project.write('handlers.test.mjs', esModule);
  await project.write('handlers.test.js', commonJs);
  const entryPoints = publishedPackages.flatMap((name) => {
    const manifest = readJson(join(project.folder, 'node_modules', name, 'package.json'));
    const paths = Object.keys(manifest.exports).filter((path) => !path.includes('*') && !path.endsWith('.json'));
    return paths.map((path) => join(name, path));
  });
  await project.write(
    'entry-points.test.mjs',
    `test.each(${JSON.stringify(entryPoints)})('%s', async (entryPoint) => void (await import(entryPoint)));`,
  );
  await project.write('realms.test.mjs', realms);
});

afterAll(() => project.remove());

test('runs tests that use the published packages, with the command and the tests of the page', async () => {
  expect(command).toContain('npx jest');
  const printed = await succeed('sh', ['-c', `${command} 2>&1`], { cwd: project.folder });
  expect(printed).toContain('Test Suites: 4 passed, 4 total');
});

test('refuses them without the flag, as the page says', async () => {
  const failing = succeed('sh', ['-c', 'npx jest handlers 2>&1 >/dev/null | cat; exit 1'], { cwd: project.folder });
  await expect(failing).rejects.toThrow('Must use import to load ES Module');
});
