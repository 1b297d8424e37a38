import { mkdir, mkdtempDisposable, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { checkContracts, checkServedSchemas, run, workspaceRoot } from '@deedwire/checks';
import { allTags, dayOfCommit, git } from './git.ts';
import { findUndeclared } from './packed-changes.ts';
import { integrityOf, type PackedRelease, writePackedRelease } from './packed-release.ts';
import {
  distTagOf,
  inDependencyOrder,
  pendingChangesets,
  planRelease,
  predecessorOf,
  readWorkspacePackages,
  type ReleasePlan,
  tagOf,
  type WorkspacePackage,
} from './plan.ts';
import { publishPacked } from './publish-packed.ts';
import type { Registry } from './registry.ts';
import { ReleaseError, succeed } from './release-error.ts';
import { findUnserved } from './served-by.ts';
import { lint, pack, type Tarball } from './tarball.ts';

export interface PackOptions {
  registry: Registry;
  /** Check that the registry will accept provenance. */
  provenance: boolean;
  say: (line: string) => void;
}

export interface ReleaseOptions extends PackOptions {
  /** Build and check everything, but publish and tag nothing. */
  dryRun: boolean;
}

/**
 * Publishes the packages that the registry does not have, and tags them. After an interruption, a second run completes the
 * release.
 *
 * @throws {ReleaseError} if a check fails. Nothing has been published.
 */
export async function release({ dryRun, ...options }: ReleaseOptions): Promise<void> {
  const { say } = options;
  await refuseUnversioned(dryRun);
  await using folder = await temporaryFolder();
  const packed = await packInto(folder.path, options);
  if (packed === null) return;
  const left = new Set(packed.tags.map(tagOf));
  if (dryRun) {
    for (const of of packed.packages)
      say(`would publish ${tagOf(of)}${of.distTag === 'latest' ? '' : ` as ${of.distTag}`}`);
    for (const each of left) say(`would tag ${each}`);
    return;
  }
  await publishPacked(packed, {
    ...options,
    folder: folder.path,
    async onPublished(of) {
      if (left.delete(tagOf(of))) await tag(tagOf(of), say);
    },
  });
  for (const each of left) await tag(each, say);
}

/**
 * Checks, builds and packs what the registry does not have, for a job that publishes it without running any other code. Writes
 * the tarballs, `release.json` and a bill of materials of each app into an empty folder.
 *
 * @returns the SHA-256 of `release.json`. Null if everything is released, and nothing was written.
 * @throws {ReleaseError} if a check fails
 */
export async function packRelease(folder: string, options: PackOptions): Promise<string | null> {
  await refuseUnversioned(false);
  await mkdir(folder, { recursive: true });
  const existing = await readdir(folder);
  if (existing.length > 0) throw new ReleaseError(`${folder} is not empty. Name a folder that does not exist.`);
  const packed = await packInto(folder, options);
  if (packed === null) return null;
  await writeBillsOfMaterials(folder);
  return writePackedRelease(folder, packed);
}

/** Writes the tarballs only. Returns null if everything is released. */
async function packInto(folder: string, { registry, provenance, say }: PackOptions): Promise<PackedRelease | null> {
  const packages = readWorkspacePackages(workspaceRoot);
  const isPublic = packages.filter(({ kind }) => kind === 'public');
  const published = new Map(
    await Promise.all(isPublic.map(async ({ name }) => [name, await registry.versionsOf(name)] as const)),
  );
  const plan = planRelease(packages, { published, tags: await allTags(workspaceRoot) });
  if (plan.publish.length === 0 && plan.tag.length === 0) {
    say('Everything is released.');
    return null;
  }
  rejectUnreleasable(plan, provenance);
  await rejectUncut();
  const undeclared = await findUndeclared(workspaceRoot);
  if (undeclared.length > 0) throw new ReleaseError(undeclared.join('\n'));
  await checkAgainstPublished(plan.publish, published, registry);
  await rejectUnserved(plan, packages);
  // Last, because it takes longer than the other checks together.
  const tarballs = plan.publish.length === 0 ? [] : await buildTarballs(plan.publish, folder);
  await Promise.all(tarballs.map(lint));
  return {
    commit: (await git(workspaceRoot, 'rev-parse', 'HEAD')).trim(),
    packages: await Promise.all(
      tarballs.map(async ({ of: { name, version }, file }) => ({
        name,
        version,
        file: basename(file),
        integrity: await integrityOf(file),
        distTag: distTagOf(version, published.get(name) ?? []),
      })),
    ),
    tags: plan.tag.map(({ name, version, kind }) => ({ name, version, isPublished: kind === 'public' })),
  };
}

/** In the CycloneDX format, one for each app. */
async function writeBillsOfMaterials(folder: string): Promise<void> {
  const sbom = ['sbom', '--split', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--prod'];
  const writing = run('pnpm', ['--filter', './apps/*', ...sbom, '--out', join(folder, '%s-%v.cdx.json')]);
  await succeed('Could not write the bills of materials', writing);
}

function temporaryFolder() {
  return mkdtempDisposable(join(tmpdir(), 'release-'));
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

function rejectUnreleasable(plan: ReleasePlan, provenance: boolean): void {
  const unnamed = plan.publish.filter(({ hasRepository }) => !hasRepository);
  if (provenance && unnamed.length > 0) {
    const names = unnamed.map(({ name }) => name).join(', ');
    throw new ReleaseError(
      `Provenance needs \`repository\` in the package.json of ${names}: the registry compares it.`,
    );
  }
}

/** A contract that changed after its version was raised would be published under that version. */
async function rejectUncut(): Promise<void> {
  const { succeeded, output } = await run('node', ['packages/contract-check/src/bin.ts', 'release']);
  if (!succeeded) throw new ReleaseError(output.trim());
}

/** An app must serve what a contract promises, and must be released with it. */
async function rejectUnserved(plan: ReleasePlan, packages: readonly WorkspacePackage[]): Promise<void> {
  await succeed('The apps do not serve their contracts', checkServedSchemas());
  const unserved = await findUnserved(workspaceRoot, plan, packages);
  if (unserved.length > 0) {
    throw new ReleaseError(
      `No released app serves the contract of ${unserved.join(', ')}. Add a changeset for the app that serves it.`,
    );
  }
}

/** Builds and packs all public packages, whatever the registry has. Each comes after its dependencies. */
export function packPublicPackages(folder: string): Promise<Tarball[]> {
  const all = readWorkspacePackages(workspaceRoot).filter(({ kind }) => kind === 'public');
  return buildTarballs(inDependencyOrder(all), folder);
}

async function buildTarballs(packages: readonly WorkspacePackage[], folder: string): Promise<Tarball[]> {
  // Output of deleted sources would otherwise be published.
  await Promise.all(
    packages.map(({ path }) => rm(join(workspaceRoot, path, 'dist'), { recursive: true, force: true })),
  );
  const filters = packages.map(({ name }) => `--filter=${name}`);
  await succeed('The build failed', run('turbo', ['run', 'build', ...filters, '--output-logs=errors-only']));
  return Promise.all(packages.map((each) => pack(each, folder)));
}

/** Compares with the published versions before: neither a changeset nor a version raised by hand can hide a breaking change. */
async function checkAgainstPublished(
  packages: readonly WorkspacePackage[],
  published: ReadonlyMap<string, readonly string[]>,
  registry: Registry,
): Promise<void> {
  await using folder = await temporaryFolder();
  const downloads = packages.flatMap(({ name, version }) => {
    const predecessor = predecessorOf(version, published.get(name) ?? []);
    return predecessor === null ? [] : [registry.download(`${name}@${predecessor}`, folder.path)];
  });
  // The dates in versions.json are checked on the day on which the versions were cut: the release may run later.
  const today = await dayOfCommit(workspaceRoot);
  await succeed(
    'The versions are raised by less than the changes since the published versions need',
    checkContracts({ tarballs: await Promise.all(downloads), today }),
  );
}

async function tag(name: string, say: (line: string) => void): Promise<void> {
  await git(workspaceRoot, 'tag', '--annotate', '--message', name, name);
  say(`tagged ${name}`);
}
