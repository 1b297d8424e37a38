import { expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { commitAll, initRepository } from '../../test/support/git.ts';
import { openRepository } from './repository.ts';

test('texts belong to their paths, even beside a name with a line feed and a missing file', () => {
  const folder = folderForTest();
  initRepository(folder);
  const paths = ['a', 'a\nb', 'lost', 'c'];
  for (const path of paths.filter((each) => each !== 'lost')) writeIn(folder, path, `text of ${path}`);
  const commit = commitAll(folder);
  expect(openRepository(folder)?.textsAt(paths.map((path) => ({ commit, path })))).toEqual([
    'text of a',
    'text of a\nb',
    null,
    'text of c',
  ]);
});
