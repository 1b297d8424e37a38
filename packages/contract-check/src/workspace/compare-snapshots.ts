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

/** A change and the file that it is in. */
export interface ContractChange extends Change {
  /** Path in the package; `versions.json` when it is about a version as a whole. */
  readonly file: string;
  /** Whether it breaks a version that is released: then no bump makes it right. */
  readonly breaksReleased: boolean;
}

/** All that is different between what was promised and what is now, version by version. */
export function compareSnapshots(from: Snapshot, to: Snapshot, settings: PackageSettings): ContractChange[] {
  const versions = new Set([...from.contracts.values(), ...to.contracts.values()].map(({ version }) => version));
  return [...versions].flatMap((version) => compareVersion(version, from, to, settings));
}

function compareVersion(version: string, from: Snapshot, to: Snapshot, settings: PackageSettings): ContractChange[] {
  const [before, now] = [filesOf(from, version), filesOf(to, version)];
  const [wasIn, isIn] = [from.stateOf(version), to.stateOf(version)];
  const wasPreview = wasIn.status === 'preview';
  if (before.size === 0) {
    return [about(changeBy(workspaceRules.versionAdded, version, 'The version was added.'), false)];
  }
  if (now.size === 0) {
    const rule = wasPreview ? workspaceRules.previewRemoved : workspaceRules.versionRetired;
    return [about(changeBy(rule, version, 'The version was removed.'), false)];
  }
  const states = compareVersionStates(version, wasIn, isIn);
  return [
    ...states.map((change) => about(change, change.why === workspaceRules.versionWithdrawn.why)),
    ...[...before].flatMap(([path, file]) =>
      compareFile(file, now.get(path), from, settings).map(inVersion(path, wasPreview)),
    ),
    ...[...now.keys()]
      .filter((path) => !before.has(path))
      .map((path) => changeBy(workspaceRules.contractAdded, version, `${path} was added.`))
      .map((change) => about(change, false)),
  ];
}

/** A change of a version as a whole. */
function about(change: Change, breaksReleased: boolean): ContractChange {
  return { ...change, file: 'versions.json', breaksReleased };
}

/** A preview may break, but nobody should miss that it did. */
function inVersion(file: string, preview: boolean): (change: Change) => ContractChange {
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

/** Whether the SDL of a version had a coordinate. Without SDL, everything counts as having existed. */
function existedIn(baseline: Snapshot, version: string): (coordinate: string) => boolean {
  const sdl = [...filesOf(baseline, version).values()].find(({ kind }) => kind === 'graphql');
  if (sdl === undefined) return () => true;
  const contract = readGraphqlContract(sdl.read());
  return (coordinate) => hasCoordinate(contract, coordinate);
}

function filesOf(snapshot: Snapshot, version: string): Map<string, ContractFile> {
  return new Map([...snapshot.contracts].filter(([, file]) => file.version === version));
}
