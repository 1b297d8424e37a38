import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { linesFor, quietNpm as env, startEmptyRegistry } from '../../support/install-lines.ts';
import { readPackedPackages, publishedPackages } from '../../support/packed-packages.ts';
import { startRegistry } from '../../support/registry.ts';

const loads = `
import * as events from '@deedwire/webhook-events';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { signedRequest, testSecret } from '@deedwire/webhook-receiver/testing';
const receiver = createWebhookReceiver({ events, prefix: 'X-Service', secrets: [testSecret], store: memoryStore(), on: {} });
console.log((await receiver.fetch(await signedRequest(events, 'referral.created', '2026-11-01', { referralId: 'gid://service/Referral/1', externalReference: null }))).status);
`;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-empty-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test.each([
  ['npm', 'npm', null],
  ['pnpm', 'pnpm', 'pnpm@12.21.0'],
  ['Yarn', 'yarn', 'yarn@1.22.22'],
  ['Yarn', 'yarn', '@yarnpkg/cli-dist@4.18.1'],
] as const)(
  'the line of %s for each package installs it and asks no registry for ours',
  async (manager, program, version) => {
    const registry = await forTest(startEmptyRegistry());
    const lines = await linesFor(manager);
    expect(lines).toHaveLength(publishedPackages.length);
    const dependents = lines.filter((line) => line.includes(' && '));
    const others = lines.filter((line) => !line.includes(' && '));
    expect([dependents.length, others.length]).toEqual([2, publishedPackages.length - 2]);
    const folder = await newFolder();
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    await writeFile(join(folder, '.npmrc'), `@deedwire:registry=${registry.url}\n`);
    await writeFile(join(folder, 'yarn.lock'), '');
    const scopes = `npmScopes: { deedwire: { npmRegistryServer: '${registry.url}' } }`;
    await writeFile(
      join(folder, '.yarnrc.yml'),
      `nodeLinker: node-modules\nenableTelemetry: false\nunsafeHttpWhitelist: ['127.0.0.1']\n${scopes}\n`,
    );
    const alias = version === null ? '' : `${program}() { npx -y --package=${version} ${program} "$@"; }\n`;
    // First those that need others, which are not installed yet.
    for (const line of [...dependents, others.join('\n')])
      await succeed('sh', ['-ec', alias + line], { cwd: folder, env });
    expect(await succeed(process.execPath, ['--input-type=module', '--eval', loads], { cwd: folder })).toBe('200\n');
    expect(await succeed('npx', ['--no-install', 'deedwire', 'init'], { cwd: folder })).toContain(
      'deedwire/service.mjs',
    );
    const names = readdirSync(join(folder, 'node_modules/@deedwire')).map((name) => `@deedwire/${name}`);
    expect(names.toSorted()).toEqual(publishedPackages.toSorted());
    expect(registry.asked).toEqual([]);
  },
);

test('an empty project installs a package from a private registry', async () => {
  const registry = await startRegistry();
  onTestFinished(() => registry.close());
  const { printed } = await readPackedPackages();
  // Those that the package needs: `npm publish` takes two CPU seconds for each.
  const publish = printed.split('\n').filter((line) => /^npm publish .*\/deedwire-webhook-/.test(line));
  expect(publish).toHaveLength(3);
  const publisher = { ...env, REGISTRY: registry.url, npm_config_userconfig: registry.publisherConfig };
  await succeed('sh', ['-ec', publish.join('\n')], { cwd: await newFolder(), env: publisher });

  const cwd = await newFolder();
  await writeFile(join(cwd, 'package.json'), '{}');
  const [configure = 'false'] = /^npm config set .*$/m.exec(printed) ?? [];
  const [install = 'false'] = /^npm install @deedwire\/webhook-receiver$/m.exec(printed) ?? [];
  await succeed('sh', ['-ec', `${configure}\n${install} @deedwire/webhook-events`], {
    cwd,
    env: { ...env, REGISTRY: registry.url },
  });
  expect(await succeed(process.execPath, ['--input-type=module', '--eval', loads], { cwd })).toBe('200\n');
});
