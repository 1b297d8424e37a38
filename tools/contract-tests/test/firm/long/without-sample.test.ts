import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePorts } from '@deedwire/dev-environment/test/dev-process';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { copyWithoutSample } from '../support/without-sample.ts';

const workspace = await copyWithoutSample();
afterAll(() => workspace.remove());

test.each(['unit', 'integration'])('without the law firm, all tests of the project %s pass', async (project) => {
  const output = await workspace.pnpm('exec', 'vitest', 'run', '--no-color', '--project', project);
  expect(output).toMatch(/Tests +\d+ passed/);
});

test('without the law firm, `pnpm dev` runs the service that is left', async () => {
  const dev = spawn('pnpm', ['dev'], {
    cwd: workspace.folder,
    env: { ...process.env, ...workspace.env, ...freePorts(['customer', 'supplier']) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(async () => {
    if (dev.exitCode === null) process.kill(-(dev.pid ?? 0), 'SIGTERM');
    await once(dev, 'close');
  });
  let output = '';
  dev.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await expect.poll(() => output).toMatch(/^Deedwire is running\.[^]*^ {2}customer interface +http/m);
});
