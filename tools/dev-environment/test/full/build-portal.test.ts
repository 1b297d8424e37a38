import { readFileSync } from 'node:fs';
import { appendFile, glob, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { buildPortal } from '../../src/build-portal.ts';
import { workspaceRoot } from '../../src/workspace.ts';
import { freshClone } from './fresh-clone.ts';

const clone = await forFile(freshClone());
const portal = join(clone.path, 'packages/portal');

/** The style sheet of the built pages. */
async function builtStyles(): Promise<string> {
  for await (const path of glob('dist/assets/*.css', { cwd: portal })) {
    const name = path.replace('dist/', './');
    if (readFileSync(join(portal, 'dist/index.html'), 'utf8').includes(name))
      return readFile(join(portal, path), 'utf8');
  }
  return '';
}

test('without dependencies, the portal is not built, and the reason says what to do', async () => {
  await expect(buildPortal(clone.path)).rejects.toThrow('is missing. Install the dependencies.');
});

test('the pages are those of the sources', async () => {
  for (const folder of ['', 'packages/portal', 'packages/core', 'packages/webhook-diagnosis']) {
    await mkdir(join(clone.path, folder), { recursive: true });
    await symlink(join(workspaceRoot, folder, 'node_modules'), join(clone.path, folder, 'node_modules'));
  }
  await buildPortal(clone.path);
  const index = join(portal, 'dist/index.html');
  const { mtimeMs } = await stat(index);
  await buildPortal(clone.path);
  expect((await stat(index)).mtimeMs).toBe(mtimeMs);
  await appendFile(join(portal, 'src/styles.css'), '.edited { color: red; }');
  await buildPortal(clone.path);
  expect(await builtStyles()).toContain('.edited');
});

test('a defect in the sources is named', async () => {
  await appendFile(join(portal, 'src/words.ts'), 'export const = 1;');
  await expect(buildPortal(clone.path)).rejects.toThrow(/could not be built[^]*words\.ts/);
});
