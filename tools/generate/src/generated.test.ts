import { expect, test } from 'vitest';
import { outOfDate } from './generated.ts';
import { readText } from './workspace-files.ts';

test('lists the files that differ, that are missing, and that are no longer generated', () => {
  const files = new Map([
    ['README.md', readText('README.md')],
    ['package.json', '{}'],
    ['nowhere/new.txt', 'new'],
  ]);
  expect(
    outOfDate({
      files,
      folders: ['packages/webhook-contract/src/webhook.test'],
      stale: ['.node-version', 'nowhere/old.txt'],
    }),
  ).toEqual([
    'packages/webhook-contract/src/webhook.test/2026-11-01.ts',
    '.node-version',
    'package.json',
    'nowhere/new.txt',
  ]);
});
