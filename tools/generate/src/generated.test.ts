import { expect, test } from 'vitest';
import { outOfDate } from './generated.ts';
import { readText } from './workspace-files.ts';

test('lists the files that differ, that are missing, and that are no longer generated', () => {
  const files = new Map([
    ['README.md', readText('README.md')],
    ['package.json', '{}'],
    ['nowhere/new.txt', 'new'],
  ]);
  expect(outOfDate({ files, folders: ['tools/generate/test'], stale: ['.node-version', 'nowhere/old.txt'] })).toEqual([
    'tools/generate/test/full/asyncapi-document.test.ts',
    '.node-version',
    'package.json',
    'nowhere/new.txt',
  ]);
});
