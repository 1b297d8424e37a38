import { missing } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { succeed } from '../../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../../support/workspace-copy.ts';
import { blocksOf } from '../support/your-domain-page.ts';

// Follows docs/your-domain.md, as printed, in a copy of this workspace.

// Guard against hanging only: a test runs every unit test.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_200_000 });

let workspace: WorkspaceCopy;
beforeAll(async () => {
  workspace = await copyWorkspace({});
});
afterAll(() => workspace.remove());

// pnpm turns it off for what a script starts.
const env = { pnpm_config_verify_deps_before_run: 'install' };

function filesWith(pattern: string, path: string): Promise<string> {
  const search = `git grep --ignore-case -lE '${pattern}' -- ${path} || true`;
  return succeed('bash', ['-c', search], { cwd: workspace.folder });
}

test('the contracts have the names of the service', async () => {
  const [names = missing()] = blocksOf(workspace.folder, 'Names', 'ts');
  await workspace.edit('packages/firm/src/names.ts', (text) => text.replace(/^export const names[^]*/m, names));
  for (const block of blocksOf(workspace.folder, 'Names', 'bash'))
    await succeed('bash', ['-euo', 'pipefail', '-c', block], { cwd: workspace.folder, env });
  await workspace.pnpm('exec', 'tsc', '-b');
  const composed = ['packages/*-schema/versions', 'packages/webhook-events/asyncapi'];
  // The changelogs in the reference have the names of earlier releases.
  const pages = ['docs/reference/webhooks/findings.md', 'docs/reference/webhooks/webhook.test/2026-11-01.md'];
  for (const path of [...composed, ...pages, 'packages/webhook-events/delivery-headers.json']) {
    expect(await filesWith('X-Acme-', path)).not.toBe('');
    expect(await filesWith('x-service|deedwire-webhooks/', path)).toBe('');
  }
});
