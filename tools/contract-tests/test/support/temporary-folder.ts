import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/** Creates a folder. A test passes it to `forFile` or `forTest`, which remove it. */
export async function temporaryFolder(name: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `deedwire-${name}-`));
  return { path, remove: () => rm(path, { recursive: true }) };
}
