import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../support/workspace-copy.ts';

// Follows docs/your-domain.md, as printed, in a copy of this workspace.

// Guard against hanging only: a test runs every unit test.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_200_000 });

let workspace: WorkspaceCopy;
beforeAll(async () => {
  workspace = await copyWorkspace({});
});
afterAll(() => workspace.remove());

/** The commands in a section of the page. */
function blocksOf(heading: string): string[] {
  const page = readFileSync(join(workspace.folder, 'docs/your-domain.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? missing();
  return Array.from(section.matchAll(/^```(?:ba)?sh\n([^]*?)^```$/gm), ([, block = '']) => block);
}

// pnpm turns it off for what a script starts.
const env = { pnpm_config_verify_deps_before_run: 'install' };

function run(block: string | undefined): Promise<string> {
  return succeed('bash', ['-euo', 'pipefail', '-c', block ?? missing()], { cwd: workspace.folder, env });
}

test('the names can be changed in one place, with everything that contains them', async () => {
  for (const block of blocksOf('Names')) await run(block);
  for (const page of ['docs/versions.md', 'packages/lender-schema/versions/2026-11-01.graphql'])
    expect(readFileSync(join(workspace.folder, page), 'utf8')).toMatch(/`X-Acme-/);
  expect(await workspace.git('grep', '-lE', '[Xx]-[Ss]ervice|X-SERVICE|Deedwire-Webhooks|gid://service/')).toMatch(
    /^(?:.+CHANGELOG\.md\n|packages\/store\/migrations\/0001-.+\n|packages\/webhook-signing\/test-vectors\.json\n)+$/,
  );
  const files = ['partner-api.test', 'lender-api', 'foreign-deliveries'];
  // It compares with hashes of files that contain the names.
  await workspace.pnpm('exec', 'vitest', 'run', '--project', 'unit', '--exclude', '**/composed/unchanged.test.ts');
  await workspace.pnpm('exec', 'vitest', 'run', '--project', 'integration', ...files);
});
