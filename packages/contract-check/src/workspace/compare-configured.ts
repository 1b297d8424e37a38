import { join, posix, relative, sep } from 'node:path';
import picomatch from 'picomatch';
import { changeBy, type Notice } from '../change.ts';
import type { ApplyOverrides } from '../config/apply-overrides.ts';
import type { ConfiguredContracts } from '../config/config.ts';
import { configFile } from '../config/read-config.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { filesOfFolder, type PackageFiles } from '../source/package-files.ts';
import { packageOf } from '../source/package-of.ts';
import { readFiles } from '../source/read-files.ts';
import { compareFile } from './compare-file.ts';
import type { ContractChange } from './compare-snapshots.ts';
import type { ComparedPackage } from './compared-package.ts';
import { defaultComparison } from './contract-package.ts';
import { workspaceRules } from './rules.ts';

const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * Compares the contracts that the configuration lists. Entries of one package are combined.
 *
 * @throws {InputError} when a baseline or a contract is missing or invalid.
 */
export async function compareConfigured(
  root: string,
  contracts: readonly ConfiguredContracts[],
  override: ApplyOverrides,
): Promise<ComparedPackage[]> {
  const packages = new Map<string, ComparedPackage>();
  for (const [index, entry] of contracts.entries()) {
    // One after the other, so that the first invalid entry is reported.
    const compared = await compareEntry(root, entry, `/contracts/${index}`, override);
    const other = packages.get(compared.name);
    packages.set(compared.name, other === undefined ? compared : combine(other, compared));
  }
  return [...packages.values()];
}

async function compareEntry(
  root: string,
  entry: ConfiguredContracts,
  pointer: string,
  override: ApplyOverrides,
): Promise<ComparedPackage> {
  const folder = join(root, entry.folder ?? '.');
  const fail = (problem: string): never => {
    throw new InputError(join(root, configFile), null, `${pointer}${problem}`);
  };
  const files = filesOfFolder(folder, skippedFolders) ?? fail(`/folder does not exist: ${entry.folder}`);
  const baseline = await readFiles(entry.baseline, { root, folder, skippedFolders });
  const isContract = picomatch([...entry.files]);
  const [before, now] = [baseline, files].map((all) => [...all.keys()].filter((path) => isContract(path)));
  const paths = new Set([...(before ?? []), ...(now ?? [])]);
  if (paths.size === 0) fail(`/files match no file, neither in ${folder} nor in ${entry.baseline}`);
  const name =
    entry.package ?? packageOf(folder)?.name ?? fail(' needs the member "package", because no package.json has a name');
  const path = relative(root, folder).replaceAll(sep, '/');
  const notices: Notice[] = [];

  function compare(file: string): ContractChange[] {
    const [old, next] = [baseline.get(file), files.get(file)];
    const place = { file, location: { file: join(folder, file), line: null }, breaksReleased: false };
    if (old === undefined)
      return [{ ...changeBy(workspaceRules.contractAdded, file, `${file} was added.`), ...place, oldLocation: null }];
    if (next === undefined) {
      const removed = changeBy(workspaceRules.contractRemoved, file, `${file} was removed.`);
      const oldLocation = { file: old().file, line: null };
      return [{ ...removed, ...place, oldLocation, breaksReleased: entry.frozen ?? false }];
    }
    const report = compareFile(entry.kind, old(), next(), { ...defaultComparison, ...entry });
    notices.push(...report.notices);
    return report.changes.map((found) => {
      const change = override(found, posix.join(path, file));
      const grows = entry.frozen === true || entry.kind === 'append-only';
      return { ...change, file, breaksReleased: grows && change.verdict === 'major' };
    });
  }

  return {
    name,
    path,
    version: versionIn(files),
    servedBy: entry.servedBy ?? [],
    baseline: { name: entry.baseline, version: versionIn(baseline) },
    changes: [...paths].toSorted().flatMap(compare),
    notices,
  };
}

/** The version in the `package.json` of a folder. Null if it has none. */
function versionIn(files: PackageFiles): string | null {
  const read = files.get('package.json');
  const manifest = read === undefined ? null : parseJson(read()).value;
  const version = isJsonObject(manifest) ? ownMember(manifest, 'version') : null;
  return typeof version === 'string' ? version : null;
}

function combine(one: ComparedPackage, other: ComparedPackage): ComparedPackage {
  const names = new Set([one.baseline?.name ?? '', other.baseline?.name ?? '']);
  return {
    ...one,
    servedBy: [...new Set([...one.servedBy, ...other.servedBy])],
    baseline: { name: [...names].join(', '), version: one.baseline?.version ?? null },
    changes: [...one.changes, ...other.changes],
    notices: [...one.notices, ...other.notices],
  };
}
