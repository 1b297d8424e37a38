import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMigratedDatabase, callOperator } from '@deedwire/dev-environment/harness';
import { connect, type Connection } from '@deedwire/testing';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

let superuser: Connection;
let psql: Connection;
let env: Record<string, string>;
let folder: string;

beforeEach(async () => {
  const database = await createMigratedDatabase();
  superuser = await connect(database.databaseUrl);
  const operatorUrl = await database.urlFor('operator');
  psql = await connect(operatorUrl);
  env = { DATABASE_URL: operatorUrl, OPERATOR_NAME: 'ada' };
  const created = await temporaryFolder('audit');
  folder = created.path;
  return async () => {
    for (const connection of [psql, superuser]) await connection.close();
    await database.drop();
    await created.remove();
  };
});

interface Line {
  line: number;
  previous: string;
  entry: { number: string; at: string; action: string; subject: string; actor: string | null; details: object };
  hash: string;
}

const pathOf = (name: string): string => join(folder, name);

/** Exports to a file, continuing others. Returns what the command reported. */
async function exportTo(name: string, ...previous: string[]) {
  const options = previous.length === 0 ? [] : ['--previous', ...previous.map(pathOf)];
  const { stdout, ...result } = await callOperator(env, 'audit', 'export', '--json', ...options);
  await writeFile(pathOf(name), stdout);
  return result;
}

async function linesOf(name: string): Promise<Line[]> {
  const text = await readFile(pathOf(name), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** What docs/operations/keys-and-audit.md says of a line: the hash of what stands before it, and the hash of the line before. */
async function expectChained(...names: string[]): Promise<void> {
  let previous = '0'.repeat(64);
  for (const name of names)
    for (const line of (await readFile(pathOf(name), 'utf8')).split('\n').slice(0, -1)) {
      const { hash } = JSON.parse(line);
      expect(line).toContain(`,"previous":"${previous}","entry":{`);
      previous = createHash('sha256')
        .update(line.replace(`,"hash":"${hash}"`, ''))
        .digest('hex');
      expect(hash).toBe(previous);
    }
}

const verify = (...names: string[]) => callOperator(env, 'audit', 'verify', ...names.map(pathOf));
const succeeded = { exitCode: 0, stderr: '' };

/** Creates an organization and a supplier. The first command writes one entry, and so does the second. */
async function createSupplier(name: string): Promise<string> {
  const organization = await callOperator(env, 'organization', 'create', '--name', name, '--json');
  const { id } = JSON.parse(organization.stdout);
  const supplier = await callOperator(env, 'supplier', 'create', '--organization', id, '--name', name, '--json');
  return JSON.parse(supplier.stdout).id;
}

test('exports all entries, then the new ones, which continue the chain, and verifies both', async () => {
  // A file keeps what a terminal shows as an escape: the hashes are of these bytes.
  const supplierId = await createSupplier('North\u202Ewind');
  expect(await exportTo('a')).toEqual(succeeded);
  const first = await linesOf('a');
  expect(first.map(({ line, entry }) => [line, entry.action, entry.actor])).toEqual([
    [1, 'organization.create', 'ada'],
    [2, 'supplier.create', 'ada'],
  ]);
  expect(first[1]?.entry).toMatchObject({ subject: supplierId, details: { new: { name: 'North\u202Ewind' } } });

  // Nothing new: an empty export.
  expect(await exportTo('b', 'a')).toEqual(succeeded);
  expect(await linesOf('b')).toEqual([]);
  await psql.run(`update account set name = 'x'`);
  expect(await exportTo('c', 'a', 'b')).toEqual(succeeded);
  const [third, ...others] = await linesOf('c');
  expect(others).toEqual([]);
  await expectChained('a', 'b', 'c');
  expect(third).toMatchObject({ line: 3, previous: first[1]?.hash, entry: { action: 'supplier.update', actor: null } });

  expect(await verify('a', 'b', 'c')).toEqual({
    ...succeeded,
    stdout: [
      `3 entries, lines 1 to 3, from ${first[0]?.entry.at} to ${third?.entry.at}`,
      `Last hash: ${third?.hash}`,
      '',
    ].join('\n'),
  });
  expect((await verify('c')).stdout).toContain(
    `The lines before were not checked. The last of them has to have the hash ${first[1]?.hash}\n`,
  );
  await writeFile(pathOf('none'), '');
  expect(await verify('none')).toEqual({ exitCode: 1, stdout: '', stderr: 'error: The exports contain no entry.\n' });
  const json = await callOperator(env, 'audit', 'verify', pathOf('a'), '--json');
  expect(JSON.parse(json.stdout)).toEqual({
    entries: 2,
    firstLine: 1,
    previousHash: '0'.repeat(64),
    lastLine: 2,
    lastHash: first[1]?.hash,
    from: first[0]?.entry.at,
    to: first[1]?.entry.at,
  });
});

test('exports an entry that was committed after a later one had been exported', async () => {
  await createSupplier('Northwind');
  await psql.run(`begin; update account set name = 'late'`);
  await callOperator(env, 'organization', 'create', '--name', 'Harbour');
  expect(await exportTo('a')).toEqual(succeeded);
  expect((await linesOf('a')).map(({ entry }) => entry.action)).toEqual([
    'organization.create',
    'supplier.create',
    'organization.create',
  ]);
  await psql.run('commit');
  await callOperator(env, 'organization', 'create', '--name', 'Keystone');
  expect(await exportTo('b', 'a')).toEqual(succeeded);
  expect((await linesOf('b')).map(({ line, entry }) => [line, entry.action])).toEqual([
    [4, 'supplier.update'],
    [5, 'organization.create'],
  ]);
  const [before, late] = [(await linesOf('a')).at(-1), (await linesOf('b'))[0]];
  expect(Date.parse(late?.entry.at ?? '')).toBeLessThan(Date.parse(before?.entry.at ?? ''));
  expect(await exportTo('c', 'a', 'b')).toEqual(succeeded);
  expect(await linesOf('c')).toEqual([]);
  expect(await verify('a', 'b', 'c')).toMatchObject(succeeded);
});

test('reports entries that the database has lost or altered, and exports the new ones', async () => {
  await createSupplier('Northwind');
  await createSupplier('Keystone');
  await exportTo('a');
  const [, second, third] = await linesOf('a');
  await superuser.run('delete from audit_entry where number = $1', [second?.entry.number]);
  await superuser.run(`update audit_entry set login = 'x', details = '{"a": 1}' where number = $1`, [
    third?.entry.number,
  ]);
  await callOperator(env, 'organization', 'create', '--name', 'Harbour');

  const { exitCode, stderr } = await exportTo('b', 'a');
  expect([
    exitCode,
    ...stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ]).toEqual([
    1,
    {
      warning: {
        message: `missing in the database: ${second?.entry.at} supplier.create ${second?.entry.subject} (line 2 of the export, in ${pathOf('a')})`,
      },
    },
    {
      warning: {
        message: `altered in the database: ${third?.entry.at} organization.create ${third?.entry.subject} (line 3 of the export, in ${pathOf('a')}): login, details`,
      },
    },
    {
      error: {
        code: 'FAILED',
        message:
          'The database has lost or altered 2 of the 4 entries of the previous exports. The new entries were exported.',
      },
    },
  ]);
  expect((await linesOf('b')).map(({ line, entry }) => [line, entry.action])).toEqual([[5, 'organization.create']]);
});

test('does not report entries that the worker has dropped after their retention', async () => {
  await createSupplier('Northwind');
  await superuser.run(`update audit_entry set at = now() - interval '401 days' where action = 'organization.create'`);
  await exportTo('a');
  await superuser.run('select maintain_audit_log(400)');
  expect(await exportTo('b', 'a')).toEqual(succeeded);
  // It is too young to have been dropped.
  const longer = { ...env, AUDIT_RETENTION_DAYS: '500' };
  const reported = await callOperator(longer, 'audit', 'export', '--previous', pathOf('a'));
  expect(reported).toMatchObject({ exitCode: 1, stdout: '' });
  expect(reported.stderr).toContain('missing in the database');
  // Entries of that age are not dropped while earlier ones stay.
  await superuser.run(`insert into audit_entry (at, actor_type, actor, action, subject)
    values (now() - interval '402 days', 'OPERATOR', 'ada', 'organization.create', 'earlier')`);
  expect(await exportTo('b', 'a')).toMatchObject({ exitCode: 1 });
});

test('exports nothing if a previous export was edited, or does not begin the chain', async () => {
  await createSupplier('Northwind');
  await exportTo('a');
  await callOperator(env, 'organization', 'create', '--name', 'Harbour');
  await exportTo('b', 'a');
  const partial = await callOperator(env, 'audit', 'export', '--previous', pathOf('b'));
  expect(partial).toMatchObject({ exitCode: 1, stdout: '' });
  expect(partial.stderr).toContain(
    'error: The previous exports begin with line 3. Name all exports, beginning with line 1',
  );

  await writeFile(pathOf('a'), (await readFile(pathOf('a'), 'utf8')).replace('supplier.create', 'supplier.update'));
  const edited = await callOperator(env, 'audit', 'export', '--previous', pathOf('a'), pathOf('b'));
  const found = {
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^\S+\/a, line 2: its content was changed: .*\nerror: The exports were changed, .*: 1 problem\.\n$/,
    ),
  };
  expect(edited).toEqual(found);
  expect(await verify('a', 'b')).toEqual(found);
});

test('exports many entries, and reports the first 20 findings', async () => {
  await superuser.run(`insert into audit_entry (at, actor_type, actor, action, subject)
    select now() - make_interval(secs => n), 'OPERATOR', 'ada', 'organization.create', n::text from generate_series(1, 2500) n`);
  expect(await exportTo('a')).toEqual(succeeded);
  expect((await linesOf('a')).map(({ entry }) => Number(entry.subject))).toEqual(
    Array.from({ length: 2_500 }, (_, index) => 2_500 - index),
  );
  expect(await exportTo('b', 'a')).toEqual(succeeded);
  expect(await linesOf('b')).toEqual([]);
  await superuser.run('delete from audit_entry where number % 100 = 0');
  const { exitCode, stderr } = await exportTo('b', 'a');
  expect(exitCode).toBe(1);
  expect(stderr.split('\n')).toHaveLength(23);
  expect(stderr).toContain(
    '{"warning":{"message":"… and 5 more"}}\n{"error":{"code":"FAILED","message":"The database has lost or altered 25 of the 2500 entries',
  );
});
