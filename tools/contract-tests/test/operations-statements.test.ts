import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { withClient } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { workspaceRoot } from './support/workspace-copy.ts';

const read = (page: string): string => readFileSync(join(workspaceRoot, 'docs/operations', page), 'utf8');
const runbooks = read('runbooks.md');

const database = await forFile(createMigratedDatabase());

/** The blocks of SQL of a section, and the statements that its commands pass to `deedwire-psql`. */
function statementsOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const passed = [...page.matchAll(/^deedwire-psql --command=(["'])(.*)\1$/gm)].map(
    ([, , statement = '']) => statement,
  );
  return [...blocks, ...passed].filter((statement) => statement.startsWith('select '));
}

test("the statements of the runbooks and of the sizing run with the operator's login", async () => {
  const statements = [...statementsOf(runbooks), ...statementsOf(read('sizing.md'))];
  expect(statements.length).toBeGreaterThan(10);
  await withClient(await database.urlFor('operator'), async (client) => {
    for (const statement of statements) await client.query(statement);
  });
});
