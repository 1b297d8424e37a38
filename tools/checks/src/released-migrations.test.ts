import { expect, test } from 'vitest';
import { run } from './run.ts';

// Only a release writes it.
const changelog = 'apps/webhook-worker/CHANGELOG.md';

test('a released migration stays as it was, or databases of that release could not be migrated', async () => {
  const { stdout: log } = await run('git', ['log', '-20', '--format=%H', '--', changelog]);
  const releases = log.split('\n').filter((line) => line !== '');
  expect(releases).not.toEqual([]);
  for (const release of releases) {
    const changed = ['diff', '--name-only', '--no-renames', '--diff-filter=MD', release, '--'];
    const { stdout } = await run('git', [...changed, ':(glob)packages/store/migrations/*.sql']);
    expect(stdout, `changed after the release ${release}`).toBe('');
  }
});
