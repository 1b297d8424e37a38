import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { fastTemporaryFolder } from './temporary-folder.ts';

const folder = import.meta.dirname;

test('uses a folder with enough space', async () => {
  expect(await fastTemporaryFolder({ folder, minimumBytes: 1 })).toBe(folder);
});

test.each([
  ['that does not exist', { folder: '/nowhere' }],
  ['without enough space', { folder, minimumBytes: 2 ** 60 }],
])('uses the default of the system instead of a folder %s', async (_, options) => {
  expect(await fastTemporaryFolder(options)).toBe(tmpdir());
});
