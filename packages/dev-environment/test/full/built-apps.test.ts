import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/test-postgres';
import { expect, test } from 'vitest';
import { createAppLogins } from '../../src/app-logins.ts';
import { startSystem } from '../../src/start-system.ts';
import { workspaceRoot } from '../../src/workspace.ts';

const run = promisify(execFile);
// oxlint-disable-next-line node/no-process-env -- PATH and the like
const inherited = process.env;

test('what `pnpm build` makes of each app starts by itself', { timeout: 300_000 }, async () => {
  const env = { ...inherited, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  await run(join(workspaceRoot, 'node_modules/.bin/turbo'), ['run', 'build'], { cwd: workspaceRoot, env });

  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const operator = join(workspaceRoot, 'apps/operator-cli/dist/main.js');
  const { stdout } = await run(process.execPath, [operator, 'database', 'migrate', '--json'], {
    env: { ...inherited, DATABASE_URL: database.databaseUrl },
  });
  expect(JSON.parse(stdout).applied).not.toEqual([]);

  // It rejects unless all three become ready.
  const system = await startSystem({ databaseUrls: await createAppLogins(database.databaseUrl), built: true });
  expect(Object.keys(system.apps)).toEqual(['lender-api', 'partner-api', 'webhook-worker']);
  await system.stop();
  await database.drop();
});
