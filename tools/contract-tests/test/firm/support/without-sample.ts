import { missing } from '@deedwire/testing';
import { succeed } from '../../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../../support/workspace-copy.ts';
import { blocksOf } from './your-domain-page.ts';

/** A copy of this workspace without the law firm. */
export interface CopyWithoutSample extends WorkspaceCopy {
  /** Runs commands of docs/your-domain.md, from the root of the copy. */
  follow(commands: string): Promise<void>;
}

/**
 * A copy of this workspace in which docs/your-domain.md was followed, as printed: the test service is the only one, and the law firm is
 * gone. The commands of the page end with `pnpm check`.
 */
export async function copyWithoutSample(): Promise<CopyWithoutSample> {
  const workspace = await copyWorkspace({ pnpm_config_prefer_offline: 'true' });
  // pnpm turns it off for what a script starts.
  const env = { ...workspace.env, pnpm_config_verify_deps_before_run: 'install' };
  async function follow(commands: string): Promise<void> {
    await succeed('bash', ['-euo', 'pipefail', '-c', commands], { cwd: workspace.folder, env });
  }
  await workspace.edit('package.json', (text) => text.replace(/\s*"packages\/firm",/, ''));
  const [commands = missing()] = blocksOf(workspace.folder, 'Without the sample', 'bash');
  await follow(commands);
  return { ...workspace, follow };
}
