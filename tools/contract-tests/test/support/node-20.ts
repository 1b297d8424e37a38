import { realpath } from 'node:fs/promises';
import { delimiter, join, sep } from 'node:path';
import { succeed } from './command.ts';

/** Returns the path of Node 20. Ignores a `node` that a package installed. Null if the PATH has no Node 20. */
export async function findNode20(): Promise<string | null> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = await realpath(join(folder, 'node')).catch(() => null);
    if (node === null || node.split(sep).includes('node_modules')) continue;
    const version = await succeed(node, ['--version'], { cwd: folder });
    if (version.startsWith('v20.')) return node;
  }
  return null;
}
