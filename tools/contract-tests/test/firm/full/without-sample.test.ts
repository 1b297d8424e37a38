import { afterAll, expect, test } from 'vitest';
import { copyWithoutSample } from '../support/without-sample.ts';

const workspace = await copyWithoutSample();
afterAll(() => workspace.remove());

const run = (...args: string[]): Promise<string> => workspace.pnpm('exec', 'vitest', 'run', '--no-color', ...args);

// `long/without-sample.test.ts` runs all tests. Those of `contract-check` take most of the time, and know no service.
test('without the law firm, the checks, the unit tests, and the tests of webhooks pass', async () => {
  const passed = /Tests +\d+ passed/;
  expect(await run('--project', 'unit', '--exclude', 'packages/contract-check/**')).toMatch(passed);
  expect(await run('--project', 'integration', 'tools/contract-tests/test/webhooks.test.ts')).toMatch(passed);
});

test('no file of the law firm is left', async () => {
  const files = (await workspace.git('ls-files')).split('\n');
  expect(files.length).toBeGreaterThan(1_000);
  expect(files.filter((file) => /firm|(?:lender|partner)-(?:api|schema)\//.test(file))).toEqual([]);
});
