import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { folderForFile, folderForTest, writeIn } from '../../test/support/folders.ts';
import { commitFirst } from '../../test/support/git.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';

const root = realpathSync(folderForFile());
const folder = join(root, 'packages/api');

beforeAll(() => {
  for (const name of ['schema.graphql', 'old.graphql']) writeIn(folder, name, 'type Query {\n  a: Int\n  b: Int\n}\n');
  commitFirst(root);
  writeIn(folder, 'schema.graphql', 'type Query {\n  a: Int\n}\n');
});

const compare = (from: string, format: string): Promise<string> =>
  runInFolder(folder, ['graphql', '--from', from, '--to', 'schema.graphql', '--format', format]);

describe('in a folder of a repository', () => {
  test('annotations name files from its root', async () => {
    expect(await compare('git:HEAD:./schema.graphql', 'github')).toContain(
      '::warning file=packages/api/schema.graphql,line=1,',
    );
  });

  test.each([
    ['git:HEAD:./schema.graphql', 'packages/api/schema.graphql', 'Before the change, in HEAD'],
    ['old.graphql', 'packages/api/old.graphql', 'Before the change'],
  ])('SARIF names new and old files from its root: %s', async (from, uri, text) => {
    const [found] = JSON.parse(await compare(from, 'sarif')).runs[0].results;
    expect(found.locations[0].physicalLocation.artifactLocation.uri).toBe('packages/api/schema.graphql');
    expect(found.relatedLocations).toEqual([
      { id: 1, message: { text }, physicalLocation: { artifactLocation: { uri }, region: { startLine: 3 } } },
    ]);
  });

  test('other formats name files as they were passed, and those of a commit from its root', async () => {
    expect(JSON.parse(await compare('git:HEAD:./schema.graphql', 'json')).changes[0]).toMatchObject({
      location: { file: 'schema.graphql', line: 1 },
      oldLocation: { file: 'git:HEAD:packages/api/schema.graphql', line: 3 },
    });
  });
});

test('outside of a repository, annotations name files from the workspace of GitHub', async () => {
  const workspace = realpathSync(folderForTest());
  const outside = dirname(writeIn(workspace, 'api/schema.graphql', 'type Query {\n  a: Int\n}\n'));
  writeIn(outside, 'old.graphql', 'type Query {\n  a: Int\n  b: Int\n}\n');
  const args = ['graphql', '--from', 'old.graphql', '--to', 'schema.graphql', '--format', 'github'];
  expect(await runInFolder(outside, args, { GITHUB_WORKSPACE: workspace })).toContain('file=api/schema.graphql,');
  expect(await runInFolder(outside, args, { GITHUB_WORKSPACE: '' })).toContain('file=schema.graphql,');
});
