import { compareApiReports } from '../api/compare-api-reports.ts';
import { compareAppendOnly } from '../append-only/compare-append-only.ts';
import { changeBy, type Change } from '../change.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { hasCoordinate } from '../graphql/coordinates.ts';
import { readGraphqlContract } from '../graphql/read-contract.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import { compareVersionPresence, compareVersionStates, type Lifecycle } from './compare-versions.ts';
import type { PackageSettings } from './contract-package.ts';
import { refusedRules, workspaceRules } from './rules.ts';
import type { ContractFile, Snapshot } from './snapshot.ts';

/** A change with its file. */
export interface ContractChange extends Change {
  /** Path in the package. `versions.json` for a change of a version as a whole. */
  readonly file: string;
  /** Whether the change breaks a released version, which no bump allows. */
  readonly breaksReleased: boolean;
}

/** All changes between two snapshots: version by version, then the files of the package as a whole. */
export function compareSnapshots(
  from: Snapshot,
  to: Snapshot,
  settings: PackageSettings,
  today: string,
): ContractChange[] {
  const all = [...from.contracts.values(), ...to.contracts.values()];
  const versions = new Set(all.filter(isVersioned).map(({ version }) => version));
  const lifecycle = { today, minimumLifetimeMonths: settings.minimumLifetimeMonths };
  const others = new Set(all.filter((file) => !isVersioned(file)).map(({ path }) => path));
  return [
    ...[...versions].flatMap((version) => compareVersion(version, from, to, settings, lifecycle)),
    ...[...others].flatMap((path) => compareUnversioned(path, from, to, settings)),
  ];
}

function isVersioned({ kind }: ContractFile): boolean {
  return kind !== 'api' && kind !== 'append-only';
}

function compareUnversioned(path: string, from: Snapshot, to: Snapshot, settings: PackageSettings): ContractChange[] {
  const [before, now] = [from.contracts.get(path), to.contracts.get(path)];
  if (before === undefined) {
    const change = changeBy(workspaceRules.contractAdded, path, `${path} was added.`);
    return [{ ...change, file: path, breaksReleased: false }];
  }
  const changes = compareFile(before, now, from, settings);
  if (before.kind === 'append-only')
    return changes.map((change) => ({ ...change, file: path, breaksReleased: change.verdict === 'major' }));
  // A major bump may break the types of a released version. Its SDL and schemas are compared on their own.
  const wasPreview = from.stateOf(before.version).status === 'preview';
  return changes.map((change) => ({ ...inFile(path, wasPreview)(change), breaksReleased: false }));
}

function compareVersion(
  version: string,
  from: Snapshot,
  to: Snapshot,
  settings: PackageSettings,
  lifecycle: Lifecycle,
): ContractChange[] {
  const [before, now] = [filesOf(from, version), filesOf(to, version)];
  const [stateBefore, stateNow] = [from.stateOf(version), to.stateOf(version)];
  if (before.size === 0) return compareVersionPresence(version, null, stateNow, lifecycle).map(ofVersion);
  if (now.size === 0) return compareVersionPresence(version, stateBefore, null, lifecycle).map(ofVersion);
  return [
    ...compareVersionStates(version, stateBefore, stateNow, lifecycle).map(ofVersion),
    ...[...before].flatMap(([path, file]) =>
      compareFile(file, now.get(path), from, settings).map(inFile(path, stateBefore.status === 'preview')),
    ),
    ...[...now.keys()]
      .filter((path) => !before.has(path))
      .map((path) => changeBy(workspaceRules.contractAdded, version, `${path} was added.`))
      .map(ofVersion),
  ];
}

/** A change of a version as a whole. */
function ofVersion(change: Change): ContractChange {
  return { ...change, file: 'versions.json', breaksReleased: refusedRules.has(change.rule) };
}

/** A change in a contract file. A major change of a preview is reported as minor. */
function inFile(file: string, preview: boolean): (change: Change) => ContractChange {
  return (change) => {
    if (change.verdict !== 'major') return { ...change, file, breaksReleased: false };
    if (!preview) return { ...change, file, breaksReleased: true };
    return {
      ...changeBy(workspaceRules.previewChanged, change.coordinate, change.message),
      file,
      breaksReleased: false,
    };
  };
}

function compareFile(
  file: ContractFile,
  counterpart: ContractFile | undefined,
  baseline: Snapshot,
  settings: PackageSettings,
): readonly Change[] {
  if (counterpart === undefined)
    return [
      changeBy(
        workspaceRules.contractRemoved,
        isVersioned(file) ? file.version : file.path,
        `${file.path} was removed.`,
      ),
    ];
  const [from, to] = [file.read(), counterpart.read()];
  if (file.kind === 'graphql') return compareGraphql(from, to, settings).changes;
  if (file.kind === 'api') return compareApiReports(from, to, settings).changes;
  if (file.kind === 'append-only') return compareAppendOnly(from, to).changes;
  if (file.kind === 'json-schema') return compareJsonSchemas(from, to, settings).changes;
  return compareManifests(from, to, { existed: existedIn(baseline, file.version) }).changes;
}

/** Returns whether the SDL of a version had a coordinate. Without SDL, every coordinate is assumed to have existed. */
function existedIn(baseline: Snapshot, version: string): (coordinate: string) => boolean {
  const sdl = [...filesOf(baseline, version).values()].find(({ kind }) => kind === 'graphql');
  if (sdl === undefined) return () => true;
  const contract = readGraphqlContract(sdl.read());
  return (coordinate) => hasCoordinate(contract, coordinate);
}

function filesOf(snapshot: Snapshot, version: string): Map<string, ContractFile> {
  return new Map([...snapshot.contracts].filter(([, file]) => isVersioned(file) && file.version === version));
}
