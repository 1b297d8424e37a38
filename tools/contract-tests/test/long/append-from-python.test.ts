import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { connect, missing } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { lacks } from '../support/standard-webhooks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// What a reader of docs/events-in-sql.md copies.

const page = await readFile(join(workspaceRoot, 'docs/events-in-sql.md'), 'utf8');
const exampleIn = (language: string): string =>
  new RegExp(`<!-- example: ${language} -->\n\n\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? missing();

const database = await forFile(createTestDatabase({ template: 'append_from_python', prepare: async () => {} }));
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService, { schema: 'deedwire' });
await owner.run(`
  select deedwire.create_account('customer', 'c-1', 'Ada');
  create table shop_order (id uuid primary key, customer text not null, item text not null, placed_at timestamptz not null default now())`);

const orders = async () =>
  await owner.run(
    `select id, to_char(placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from shop_order`,
  );
const snapshots = async () =>
  (
    await owner.run(
      'select snapshot from deedwire.webhook_event join deedwire.webhook_event_queue q on q.event_id = id',
    )
  ).map(({ snapshot }) => snapshot);

beforeEach(async () => void (await owner.run('delete from deedwire.webhook_event_queue; delete from shop_order')));

test.skipIf(lacks(['python3']))(
  'the program in Python appends with psycopg, in the transaction of the order',
  async () => {
    const { path: folder } = await forTest(temporaryFolder('append-from-python'));
    await writeFile(join(folder, 'main.py'), exampleIn('python'));
    const install = `python3 -m venv environment && environment/bin/pip install --quiet 'psycopg[binary]==3.2.13'`;
    await succeed('sh', ['-c', install], { cwd: folder });
    const run = () =>
      succeed('environment/bin/python', ['main.py'], { cwd: folder, env: { DATABASE_URL: database.databaseUrl } });
    await run();
    const [{ id, at } = missing()] = await orders();
    expect(await snapshots()).toEqual([{ order: { id, item: 'Tea', note: null }, placedAt: at }]);
    // An event that is refused takes the order with it.
    await owner.run(`update deedwire.account set external_id = 'c-2'`);
    await expect(run()).rejects.toThrow('Create the account first');
    await owner.run(`update deedwire.account set external_id = 'c-1'`);
    expect(await orders()).toHaveLength(1);
  },
);

test('the trigger appends an event for each order', async () => {
  const session = await forTest(connect(database.databaseUrl));
  await session.run(exampleIn('sql'));
  onTestFinished(async () => void (await owner.run('drop function report_order cascade')));
  await session.run(
    `insert into shop_order (id, customer, item) select gen_random_uuid(), 'c-1', 'Tea' from generate_series(1, 3)`,
  );
  const expected = (await orders()).map(({ id, at }) => ({ order: { id, item: 'Tea', note: null }, placedAt: at }));
  expect(await snapshots()).toEqual(expect.arrayContaining(expected));
  await expect(
    session.run(`insert into shop_order (id, customer, item) values (gen_random_uuid(), 'c-9', 'Tea')`),
  ).rejects.toMatchObject({ code: 'DW002' });
  expect(await orders()).toHaveLength(3);
});
