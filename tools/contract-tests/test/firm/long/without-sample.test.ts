import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '@deedwire/dev-environment/test/dev-process';
import { type Credential, missing, postGraphql } from '@deedwire/testing';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { copyWithoutSample } from '../support/without-sample.ts';
import { blocksOf } from '../support/your-domain-page.ts';

/** What the build of an app writes of its contracts. */
interface AppContracts {
  readonly renders: readonly { readonly event: string }[];
}

const workspace = await copyWithoutSample();
afterAll(() => workspace.remove());

test.each(['unit', 'integration', 'full'])(
  'without the law firm, all tests of the project %s pass',
  async (project) => {
    const output = await workspace.pnpm('exec', 'vitest', 'run', '--no-color', '--project', project);
    expect(output).toMatch(/Tests +\d+ passed/);
  },
);

test('without the law firm, the apps that are left can be built, and say what they render', async () => {
  await workspace.pnpm('build');
  const contractsOf = (app: string): AppContracts =>
    JSON.parse(readFileSync(join(workspace.folder, 'apps', app, 'dist/contracts.json'), 'utf8'));
  expect(contractsOf('webhook-worker').renders.map(({ event }) => event)).toContain('order.placed@2026-11-01');
});

test('`pnpm dev` runs the service that is left, with an interface that is added by the page', async () => {
  const [copy = missing(), check = missing()] = blocksOf(workspace.folder, 'An interface', 'bash');
  const [line = missing()] = blocksOf(workspace.folder, 'An interface', 'ts');
  await workspace.follow(copy);
  await workspace.edit('tools/test-service/src/interfaces.ts', (text) => text.replace(/^} as const/m, `  ${line}$&`));
  await workspace.follow(check);
  const changed = (await workspace.git('status', '--porcelain', '--untracked-files=normal')).split('\n');
  expect(changed.filter((path) => path !== '' && !path.includes('/generated/'))).toEqual([
    ' M tools/test-service/src/interfaces.ts',
    '?? tools/test-service/src/carrier/',
  ]);

  const dev = spawn('pnpm', ['dev'], {
    cwd: workspace.folder,
    env: { ...process.env, ...workspace.env, ...freePorts(['customer', 'supplier', 'carrier']) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(async () => {
    if (dev.exitCode === null) process.kill(-(dev.pid ?? 0), 'SIGTERM');
    await once(dev, 'close');
  });
  let output = '';
  dev.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await expect.poll(() => output).toMatch(/^Deedwire is running\.[^]*^ {2}carrier interface +http/m);
  const file = readFileSync(join(workspace.folder, '.local/dev.json'), 'utf8');
  const { carrier }: { carrier: Credential & { url: string } } = JSON.parse(file);
  const { body } = await postGraphql(carrier.url, carrier, { query: '{ carrier { name } }', prefix: 'X-Service' });
  expect(body.data).toEqual({ carrier: { name: 'Carrier One' } });
});
