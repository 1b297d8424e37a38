import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { readPackedPackages, publishedPackages } from '../support/packed-packages.ts';
import { startRegistry } from '../support/registry.ts';

/** Without requests that the installation does not need. */
const env = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };

const loads = `
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { signedRequest, testSecret } from '@deedwire/webhook-receiver/testing';
const receiver = createWebhookReceiver({ secrets: [testSecret], store: memoryStore(), on: {} });
console.log((await receiver.fetch(await signedRequest('referral.created', '2026-11-01'))).status);
`;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-empty-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The command that `pnpm packages` prints for a package, from its tarball or by its name. */
function printedFor(printed: string, end: RegExp): string {
  return printed.split('\n').find((line) => line.startsWith('npm install ') && end.test(line)) ?? 'false';
}

test('an empty project installs a package and its dependencies from the tarballs', async () => {
  const { printed } = await readPackedPackages();
  expect(printed.match(/^npm install '.*\/deedwire-.*\.tgz'$/gm)).toHaveLength(publishedPackages.length);
  const cwd = await newFolder();
  await succeed('sh', ['-c', printedFor(printed, /\/deedwire-webhook-receiver-[\d.]+\.tgz'$/)], { cwd, env });
  expect(await succeed(process.execPath, ['--input-type=module', '--eval', loads], { cwd })).toBe('200\n');
});

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
  const install = printedFor(printed, / @deedwire\/webhook-receiver$/);
  await succeed('sh', ['-ec', `${configure}\n${install}`], { cwd, env: { ...env, REGISTRY: registry.url } });
  expect(await succeed(process.execPath, ['--input-type=module', '--eval', loads], { cwd })).toBe('200\n');
});
