import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { inherited, run } from './built-apps.ts';

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
