import { expect, test, vi } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { cutsOf, refusedBuilds } from '../support/export-cuts.ts';
import { folderForFile, writeIn } from '../support/folders.ts';

// Exports get old.
vi.useFakeTimers({ toFake: ['Date'] });

const folder = folderForFile();

test('cutting anything out of an export turns no answer into yes', async () => {
  let count = 0;
  for (const { build, environment } of refusedBuilds()) {
    const candidate = writeIn(folder, 'build.json', build);
    for (const { path, text } of cutsOf(environment, Infinity)) {
      const file = writeIn(folder, 'production.json', text);
      const options = ['--environment', file, '--build', candidate, '--root', folder, '--max-gap', '0'];
      const { exitCode } = await run(['can-i-deploy', ...options]);
      expect({ path, exitCode }).not.toEqual({ path, exitCode: 0 });
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(900);
});
