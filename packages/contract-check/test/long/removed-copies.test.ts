import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWorkspace } from '../../src/workspace/check-workspace.ts';
import { git } from '../support/git.ts';

const workspaceRoot = join(import.meta.dirname, '../../../..');

/** The commit that removed the copies of the last releases. Empty without a history, as in a copy of the working tree. */
function removal(): string {
  try {
    const removed = ['log', '-1', '--diff-filter=D', '--format=%H', '--', 'packages/lender-schema/released'];
    return git(workspaceRoot, ...removed).trim();
  } catch {
    return '';
  }
}

/** Path below a folder → id of the content. */
function blobs(folder: string, commit: string, below: string): Map<string, string> {
  const lines = git(folder, 'ls-tree', '-r', '-z', commit, '--', `${below}/`).split('\0').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [, blob = '', path = ''] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return [path.slice(below.length + 1), blob];
    }),
  );
}

const removedIn = removal();

test.skipIf(removedIn === '')('the releases in git are those that released/ contained before its removal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deedwire-released-'));
  try {
    git(workspaceRoot, 'clone', '--quiet', '--shared', '--no-checkout', workspaceRoot, folder);
    git(folder, 'sparse-checkout', 'set', 'packages');
    git(folder, 'checkout', '--quiet', '--detach', `${removedIn}^`);
    const { packages } = await checkWorkspace({ root: folder, base: 'HEAD', declared: 'major' });
    const compared = packages.map(({ path, baseline }) => {
      const [, commit = ''] = /^commit ([0-9a-f]{12}) /.exec(baseline ?? '') ?? [];
      const released = blobs(folder, 'HEAD', `${path}/released`);
      const inGit = blobs(folder, commit, path);
      return {
        path,
        files: released.size,
        differing: [...released].filter(([file, blob]) => inGit.get(file) !== blob),
      };
    });
    expect(compared.map(({ path, differing }) => ({ path, differing }))).toEqual(
      [
        'contract-check',
        'lender-schema',
        'partner-schema',
        'webhook-events',
        'webhook-receiver',
        'webhook-signing',
      ].map((name) => ({ path: `packages/${name}`, differing: [] })),
    );
    expect(compared.reduce((sum, { files }) => sum + files, 0)).toBe(54);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
