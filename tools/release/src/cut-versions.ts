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
 * Consumes the pending changesets: raises versions, writes changelogs, and updates `released/` of the raised packages.
 *
 * @throws {ReleaseError} if the changesets declare a smaller bump than the changes need. No file has been changed.
 */
export async function cutVersions(): Promise<CutVersion[]> {
  if (pendingChangesets(workspaceRoot).length === 0) return [];
  // This must happen before `released/` is updated: afterwards there is no difference left to check.
  const contracts = await checkContracts();
  if (!contracts.succeeded)
    throw new ReleaseError(`The changesets declare a smaller bump than the changes need:\n${contracts.output.trim()}`);

  const before = new Map(readWorkspacePackages(workspaceRoot).map(({ name, version }) => [name, version]));
  const { succeeded, output } = await run('changeset', ['version']);
  if (!succeeded) throw new ReleaseError(`\`changeset version\` failed:\n${output.trim()}`);
  const cut: CutVersion[] = [];
  for (const { name, version, path } of readWorkspacePackages(workspaceRoot)) {
    const from = before.get(name) ?? version;
    if (from === version) continue;
    // The snapshot of an unchanged version must stay equal to the tree of its tag.
    writeReleased(join(workspaceRoot, path));
    cut.push({ name, from, to: version });
  }
  return cut;
}
