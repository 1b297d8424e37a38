import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkContracts, contractFolders, run, sunsetProblems, workspaceRoot } from '@deedwire/checks';
import { pendingChangesets, readWorkspacePackages } from './plan.ts';
import { ReleaseError, succeed } from './release-error.ts';
import { readContracts, readRecords, recordOf, type ReportedChange, writeRecord } from './release-record.ts';

export interface CutVersion {
  name: string;
  from: string;
  to: string;
}

/**
 * Consumes the pending changesets: raises versions, writes changelogs, records what each raised package changes in its
 * versions, and updates `docs/reference`. The commit of the result is the release, with which `contract-check` compares.
 *
 * @throws {ReleaseError} if the changesets declare a smaller bump than the changes need, or a version ends without a plan or is removed
 *   although it may be in use. No file has been changed.
 */
export async function cutVersions(): Promise<CutVersion[]> {
  if (pendingChangesets(workspaceRoot).length === 0) return [];
  // This must happen before the versions are raised: a raised version declares a bump.
  await succeed('The changesets declare a smaller bump than the changes need', checkContracts());
  const problems = sunsetProblems(workspaceRoot, await contractFolders(), new Date());
  if (problems.length > 0) throw new ReleaseError(problems.join('\n'));

  const changes = await readChanges();
  const before = new Map(readWorkspacePackages(workspaceRoot).map(({ name, version }) => [name, version]));
  await succeed('`changeset version` failed', run('changeset', ['version']));
  const cut: CutVersion[] = [];
  for (const { name, version, path } of readWorkspacePackages(workspaceRoot)) {
    const from = before.get(name) ?? version;
    if (from === version) continue;
    const folder = join(workspaceRoot, path);
    const contracts = readContracts(folder);
    // The common half has versions, and no contract.
    if (contracts.states !== null && contracts.texts.size > 0) {
      const own = changes.filter((change) => change.package === name);
      writeRecord(folder, version, recordOf(readRecords(folder), contracts, own));
    }
    cut.push({ name, from, to: version });
  }
  for (const { name, to } of cut) if (name === '@deedwire/contract-check') pinAction(to);
  // The reference names the release of each addition: what the next release added, this one has added now.
  const generate = ['--conditions=deedwire-source', 'tools/generate/src/main.ts', 'reference'];
  await succeed('Could not generate docs/reference', run('node', generate));
  return cut;
}

/** The Action installs the major version that it belongs to. */
function pinAction(version: string): void {
  const file = join(workspaceRoot, 'packages/contract-check/action/action.yml');
  const pinned = readFileSync(file, 'utf8').replace(/(@deedwire\/contract-check@)\d+/, `$1${version.split('.')[0]}`);
  writeFileSync(file, pinned);
}

type PackageChange = ReportedChange & { package: string };

/** The changes of all contracts since their latest release. */
async function readChanges(): Promise<PackageChange[]> {
  const bin = 'packages/contract-check/src/bin.ts';
  const { stdout } = await run('node', [bin, 'workspace', '--format', 'json']);
  const { changes }: { changes: PackageChange[] } = JSON.parse(stdout);
  return changes;
}
