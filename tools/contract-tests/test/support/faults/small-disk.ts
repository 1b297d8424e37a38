import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system in memory, for a tablespace. */
export interface SmallDisk {
  /** An empty folder that the PostgreSQL server owns. */
  tablespace: string;
  /** Uses all free space, until `free`. */
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const block = Buffer.alloc(64 * 1024);

const succeeds = (...[command, ...rest]: [string, ...string[]]): boolean => spawnSync(command, rest).status === 0;

/** @returns null if this user cannot mount file systems */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk | null> {
  const root = await mkdtemp(join(tmpdir(), 'deedwire-small-disk-'));
  if (process.platform !== 'linux' || !succeeds('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', root)) {
    await rm(root, { recursive: true });
    return null;
  }
  const tablespace = join(root, 'tablespace');
  const ballast = join(root, 'ballast');
  await mkdir(tablespace);
  // Only root can mount, and root runs PostgreSQL as this user.
  succeeds('chown', 'nobody', root, tablespace);
  return {
    tablespace,
    async fill() {
      const file = await open(ballast, 'w');
      try {
        for (;;) await file.write(block);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async close() {
      succeeds('umount', root);
      await rm(root, { recursive: true });
    },
  };
}
