import { realpath } from 'node:fs/promises';
import { delimiter, join, sep } from 'node:path';
import { succeed } from './command.ts';

/** The machine's own Node 20: a `node` on the PATH that is not of a package. Null: there is none. */
export async function findNode20(): Promise<string | null> {
  // oxlint-disable-next-line node/no-process-env -- the PATH is where a machine says what it has
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = await realpath(join(folder, 'node')).catch(() => null);
    if (node === null || node.split(sep).includes('node_modules')) continue;
    const version = await succeed(node, ['--version'], { cwd: folder });
    if (version.startsWith('v20.')) return node;
  }
  return null;
}
