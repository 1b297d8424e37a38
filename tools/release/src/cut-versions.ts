import { join } from 'node:path';
import { checkContracts, run, workspaceRoot } from '@deedwire/checks';
import { writeReleased } from './contract-files.ts';
import { ReleaseError } from './release-error.ts';
import { pendingChangesets, readWorkspacePackages } from './workspace-packages.ts';

export interface CutVersion {
  name: string;
  from: string;
  to: string;
}

/**
 * Uses up the pending changesets: raises versions, writes changelogs, and `released/` of what is raised. Throws a
 * ReleaseError, with nothing changed, when the changesets declare less than the changes are.
 */
export async function cutVersions(): Promise<CutVersion[]> {
  if (pendingChangesets(workspaceRoot).length === 0) return [];
  // `released/` is about to become what is promised now: after that, nobody sees what was changed.
  const contracts = await checkContracts();
  if (!contracts.succeeded)
    throw new ReleaseError(`The changesets do not fit the changes:\n${contracts.output.trim()}`);

  const before = new Map(readWorkspacePackages(workspaceRoot).map(({ name, version }) => [name, version]));
  const { succeeded, output } = await run('changeset', ['version']);
  if (!succeeded) throw new ReleaseError(`\`changeset version\` failed:\n${output.trim()}`);
  const cut: CutVersion[] = [];
  for (const { name, version, path } of readWorkspacePackages(workspaceRoot)) {
    const from = before.get(name) ?? version;
    if (from === version) continue;
    // A version that stays keeps its snapshot, which is what its tag holds.
    writeReleased(join(workspaceRoot, path));
    cut.push({ name, from, to: version });
  }
  return cut;
}
