import { execFile } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

const workspace = new URL('../../../../', import.meta.url).pathname;

// Few, because they cost as much as in `pnpm test`. Without files, the script runs all of them.
const files = [
  'tools/embedded-postgres/test/version.test.ts',
  'packages/store/test/roles.test.ts',
  'tools/contract-tests/test/crash.test.ts',
];

test('apps migrate, write and deliver on the oldest version of PostgreSQL', async () => {
  const script = ['scripts/test-postgres.ts', '15', ...files];
  const { stdout } = await promisify(execFile)(process.execPath, script, { cwd: workspace, maxBuffer: 2 ** 26 });
  // With CI=true, Vitest prints colours.
  const text = stripVTControlCharacters(stdout);
  expect(text).toMatch(/\(PostgreSQL\) 15\.\d+/);
  expect(text).toMatch(new RegExp(`Test Files .*\\b${files.length} passed`));
});
