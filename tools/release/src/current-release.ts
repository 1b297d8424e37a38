import { readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes the link `current` in a folder lead to a release, and `previous` to the one before. */
export async function makeCurrent(folder: string, release: string): Promise<void> {
  const before = await readlink(join(folder, 'current')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return release;
    throw error;
  });
  if (before !== release) await replaceLink(join(folder, 'previous'), before);
  await replaceLink(join(folder, 'current'), release);
}

/** In one step: a process that starts finds the old or the new release. */
async function replaceLink(path: string, target: string): Promise<void> {
  await rm(`${path}.new`, { force: true });
  await symlink(target, `${path}.new`);
  await rename(`${path}.new`, path);
}
