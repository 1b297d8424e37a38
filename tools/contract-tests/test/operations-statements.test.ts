import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { withClient } from '@deedwire/embedded-postgres';
import { commandsOf } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { workspaceRoot } from './support/workspace-copy.ts';

const page = readFileSync(join(workspaceRoot, 'docs/operations.md'), 'utf8');

const database = await forFile(createMigratedDatabase());

test("the statements of docs/operations.md run with the operator's login", async () => {
  const [blocked = ''] = commandsOf(page, 'DeedwireEventsBlocked', 1);
  const [pending = ''] = commandsOf(page, 'DeedwireDeliveriesGrowing', 1);
  await withClient(await database.urlFor('operator'), async (client) => {
    const columns = async (statement: string) => (await client.query(statement)).fields.map(({ name }) => name);
    expect(await columns(blocked)).toEqual(['account_id', 'blocked_on', 'count']);
    expect(await columns(pending)).toEqual(['subscription_id', 'count']);
  });
});
