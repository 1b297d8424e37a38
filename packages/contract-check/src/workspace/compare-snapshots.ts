import { changeBy, type Change } from '../change.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { hasCoordinate } from '../graphql/coordinates.ts';
import { readGraphqlContract } from '../graphql/read-contract.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import { compareVersionStates } from './compare-versions.ts';
import type { PackageSettings } from './contract-package.ts';
import { workspaceRules } from './rules.ts';
import type { ContractFile, Snapshot } from './snapshot.ts';

/** A change with its file. */
export interface ContractChange extends Change {
  /** Path in the package. `versions.json` for a change of a version as a whole. */
  readonly file: string;
  /** Whether the change breaks a released version, which no bump allows. */
  readonly breaksReleased: boolean;
}

/** All changes between two snapshots, version by version. */
export function compareSnapshots(from: Snapshot, to: Snapshot, settings: PackageSettings): ContractChange[] {
  const versions = new Set([...from.contracts.values(), ...to.contracts.values()].map(({ version }) => version));
  return [...versions].flatMap((version) => compareVersion(version, from, to, settings));
}

function compareVersion(version: string, from: Snapshot, to: Snapshot, settings: PackageSettings): ContractChange[] {
  const [before, now] = [filesOf(from, version), filesOf(to, version)];
  const [stateBefore, stateNow] = [from.stateOf(version), to.stateOf(version)];
  const wasPreview = stateBefore.status === 'preview';
  if (before.size === 0) {
    return [ofVersion(changeBy(workspaceRules.versionAdded, version, 'The version was added.'), false)];
  }
  if (now.size === 0) {
    const rule = wasPreview ? workspaceRules.previewRemoved : workspaceRules.versionRetired;
    return [ofVersion(changeBy(rule, version, 'The version was removed.'), false)];
  }
  const states = compareVersionStates(version, stateBefore, stateNow);
  return [
    ...states.map((change) => ofVersion(change, change.why === workspaceRules.versionWithdrawn.why)),
    ...[...before].flatMap(([path, file]) =>
      compareFile(file, now.get(path), from, settings).map(inFile(path, wasPreview)),
    ),
    ...[...now.keys()]
      .filter((path) => !before.has(path))
      .map((path) => changeBy(workspaceRules.contractAdded, version, `${path} was added.`))
      .map((change) => ofVersion(change, false)),
  ];
}

/** A change of a version as a whole. */
function ofVersion(change: Change, breaksReleased: boolean): ContractChange {
  return { ...change, file: 'versions.json', breaksReleased };
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
    return [changeBy(workspaceRules.contractRemoved, file.version, `${file.path} was removed.`)];
  const [from, to] = [file.read(), counterpart.read()];
  if (file.kind === 'graphql') return compareGraphql(from, to, settings).changes;
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
  return new Map([...snapshot.contracts].filter(([, file]) => file.version === version));
}
