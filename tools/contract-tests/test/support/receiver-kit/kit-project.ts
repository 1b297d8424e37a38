import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { workspaceRoot } from '../workspace-copy.ts';

/** A project in which the kit, the payloads of this repository and pg are installed. Removed after the test. */
export async function createKitProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kit-project-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  const kit = join(workspaceRoot, 'packages/webhook-receiver');
  await symlink(kit, join(folder, 'node_modules/@deedwire/webhook-receiver'), 'dir');
  await symlink(join(kit, '../webhook-events'), join(folder, 'node_modules/@deedwire/webhook-events'), 'dir');
  await symlink(join(kit, 'node_modules/pg'), join(folder, 'node_modules/pg'), 'dir');
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}
