import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkContracts, checkServedSchemas, run, workspaceRoot } from '@deedwire/checks';
import { differsFromReleased } from './contract-files.ts';
import { allTags, dayOfCommit, git } from './git.ts';
import { planRelease, tagOf, type ReleasePlan } from './plan.ts';
import type { Registry } from './registry.ts';
import { ReleaseError } from './release-error.ts';
import { distTagOf, predecessorOf } from './release-line.ts';
import { findUnserved } from './served-by.ts';
import { lint, pack, type Tarball } from './tarball.ts';
import { pendingChangesets, readWorkspacePackages, type WorkspacePackage } from './workspace-packages.ts';

export interface ReleaseOptions {
  registry: Registry;
  /** Build and check everything, but publish and tag nothing. */
  dryRun: boolean;
  /** Publish with npm provenance. */
  provenance: boolean;
  say: (line: string) => void;
}

/**
 * Publishes the packages that the registry does not have, and tags them. After an interruption, a second run completes the
 * release.
 *
 * @throws {ReleaseError} if a check fails. Nothing has been published.
 */
export async function release({ registry, dryRun, provenance, say }: ReleaseOptions): Promise<void> {
  await refuseUnversioned(dryRun);
  const packages = readWorkspacePackages(workspaceRoot);
  const published = await lookUp(registry, packages);
  const plan = planRelease(packages, { published, tags: await allTags(workspaceRoot) });
  if (plan.publish.length === 0 && plan.tag.length === 0) return say('Everything is released.');
  rejectUnreleasable(plan, provenance);

  const folder = await mkdtemp(join(tmpdir(), 'release-'));
  try {
    await checkAgainstPublished(plan.publish, published, registry, join(folder, 'published'));
    await rejectUnserved(plan, packages);
    // Last, because it takes longer than the other checks together.
    const tarballs = await makeTarballs(plan.publish, folder);
    const left = new Set(plan.tag);
    for (const { of, file } of tarballs) {
      const distTag = distTagOf(of.version, published.get(of.name) ?? []);
      if (!dryRun) await registry.publish(file, { provenance, distTag });
      say(`${dryRun ? 'would publish' : 'published'} ${tagOf(of)}${distTag === 'latest' ? '' : ` as ${distTag}`}`);
      if (left.delete(of)) await tag(of, dryRun, say);
    }
    for (const each of left) await tag(each, dryRun, say);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A release must come from a commit without pending changesets. */
async function refuseUnversioned(dryRun: boolean): Promise<void> {
  const pending = pendingChangesets(workspaceRoot);
  if (pending.length > 0) {
    throw new ReleaseError(
      `Changesets are pending (${pending.join(', ')}). Run \`pnpm run version\` and commit the result first.`,
    );
  }
  const changed = (await git(workspaceRoot, 'status', '--porcelain')).trimEnd();
  if (changed !== '' && !dryRun) throw new ReleaseError(`The working tree has uncommitted changes:\n${changed}`);
}

async function lookUp(registry: Registry, packages: readonly WorkspacePackage[]): Promise<Map<string, string[]>> {
  const published = packages.filter(({ kind }) => kind === 'public');
  return new Map(
    await Promise.all(published.map(async ({ name }) => [name, await registry.versionsOf(name)] as const)),
  );
}

function rejectUnreleasable(plan: ReleasePlan, provenance: boolean): void {
  for (const { name, path } of new Set([...plan.publish, ...plan.tag])) {
    const differing = differsFromReleased(join(workspaceRoot, path));
    if (differing.length > 0) {
      throw new ReleaseError(
        `The contracts of ${name} differ from its released/ (${differing.join(', ')}). Cut a version with \`pnpm run version\` first.`,
      );
    }
  }
  const unnamed = plan.publish.filter(({ hasRepository }) => !hasRepository);
  if (provenance && unnamed.length > 0) {
    const names = unnamed.map(({ name }) => name).join(', ');
    throw new ReleaseError(
      `Provenance needs \`repository\` in the package.json of ${names}: the registry compares it.`,
    );
  }
}

/** An app must serve what a contract promises, and must be released with it. */
async function rejectUnserved(plan: ReleasePlan, packages: readonly WorkspacePackage[]): Promise<void> {
  const served = await checkServedSchemas();
  if (!served.succeeded) throw new ReleaseError(`The apps do not serve their contracts:\n${served.output.trim()}`);
  const unserved = await findUnserved(workspaceRoot, plan, packages);
  if (unserved.length > 0) {
    throw new ReleaseError(
      `No released app serves the contract of ${unserved.join(', ')}. Add a changeset for the app that serves it.`,
    );
  }
}

async function makeTarballs(packages: readonly WorkspacePackage[], folder: string): Promise<Tarball[]> {
  if (packages.length === 0) return [];
  // Output of deleted sources would otherwise be published.
  await Promise.all(
    packages.map(({ path }) => rm(join(workspaceRoot, path, 'dist'), { recursive: true, force: true })),
  );
  const filters = packages.map(({ name }) => `--filter=${name}`);
  const { succeeded, output } = await run('turbo', ['run', 'build', ...filters, '--output-logs=errors-only']);
  if (!succeeded) throw new ReleaseError(`The build failed:\n${output.trim()}`);
  const tarballs = await Promise.all(packages.map((each) => pack(each, folder)));
  await Promise.all(tarballs.map(lint));
  return tarballs;
}

/** Compares with the published versions before: neither a changeset nor an edited `released/` can hide a breaking change. */
async function checkAgainstPublished(
  packages: readonly WorkspacePackage[],
  published: ReadonlyMap<string, readonly string[]>,
  registry: Registry,
  folder: string,
): Promise<void> {
  await mkdir(folder);
  const downloads = packages.flatMap(({ name, version }) => {
    const predecessor = predecessorOf(version, published.get(name) ?? []);
    return predecessor === null ? [] : [registry.download(name, predecessor, folder)];
  });
  // The dates in versions.json are checked on the day on which the versions were cut: the release may run later.
  const { succeeded, output } = await checkContracts({
    tarballs: await Promise.all(downloads),
    today: await dayOfCommit(workspaceRoot),
  });
  if (!succeeded)
    throw new ReleaseError(
      `The versions are raised by less than the changes since the published versions need:\n${output.trim()}`,
    );
}

async function tag(of: WorkspacePackage, dryRun: boolean, say: (line: string) => void): Promise<void> {
  if (!dryRun) await git(workspaceRoot, 'tag', '--annotate', '--message', tagOf(of), tagOf(of));
  say(`${dryRun ? 'would tag' : 'tagged'} ${tagOf(of)}`);
}
