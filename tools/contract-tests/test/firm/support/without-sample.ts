import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';
import { succeed } from '../../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../../support/workspace-copy.ts';

const heading = 'Without the sample\n';

/**
 * A copy of this workspace in which docs/your-domain.md was followed, as printed: the test service is the only one, and the law firm is
 * gone. The commands of the page end with `pnpm check`.
 */
export async function copyWithoutSample(): Promise<WorkspaceCopy> {
  const workspace = await copyWorkspace({ pnpm_config_prefer_offline: 'true' });
  await workspace.edit('package.json', (text) => text.replace(/\s*"packages\/firm",/, ''));
  const page = readFileSync(join(workspace.folder, 'docs/your-domain.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? missing();
  const [, commands = missing()] = /^```bash\n([^]*?)^```$/m.exec(section) ?? [];
  // pnpm turns it off for what a script starts.
  const env = { ...workspace.env, pnpm_config_verify_deps_before_run: 'install' };
  await succeed('bash', ['-euo', 'pipefail', '-c', commands], { cwd: workspace.folder, env });
  return workspace;
}
