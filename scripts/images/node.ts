import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { workspaceRoot } from './command.ts';

/** Copies the Node of the scripts, which the workspace installs from npm. */
export async function copyNode(target: string): Promise<void> {
  await copyFile(join(workspaceRoot, `node_modules/node-linux-${process.arch}/bin/node`), target);
  await chmod(target, 0o755);
}
