import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bin, createApplication, nodeIn, root } from './application.ts';

// What would wait for ever, because an interface that differs from its SDL or its database does not become ready.

const { url: databaseUrl } = await forFile(startPostgres());
const startsService = `
  import { startService } from '@deedwire/service/testing';
  import { service } from './deedwire/service.ts';
  await startService(service, { app: import.meta.url });`;

/** A copy of the clinic. */
let folder: string;
beforeEach(async () => {
  folder = await createApplication({ type: 'module' });
  await cp(join(root, '../../examples/clinic/deedwire'), join(folder, 'deedwire'), { recursive: true });
  await writeFile(join(folder, 'start.mjs'), startsService);
});
afterEach(() => rm(folder, { recursive: true }));

test.each([
  [
    'a field without an ability',
    'patient/own/2026-11-01.manifest.json',
    '"Query.appointments": ["READ"], ',
    'Query.appointments has no ability',
  ],
  [
    'a table that no migration registers',
    'migrations/0001-appointment.sql',
    "select own_table('appointment', 'patient', 'select, insert');",
    'own_table() has not registered appointment',
  ],
])('`dev` and `startService` end with %s, and name it', async (_, path, without, problem) => {
  const file = join(folder, 'deedwire', path);
  const text = await readFile(file, 'utf8');
  expect(text).toContain(without);
  await writeFile(file, text.replace(without, ''));
  for (const command of [['start.mjs'], [bin, 'dev']])
    expect(await nodeIn(folder, { command, databaseUrl })).toEqual({
      code: 1,
      output: expect.stringContaining(problem),
    });
});
