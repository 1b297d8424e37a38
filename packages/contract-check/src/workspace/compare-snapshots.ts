import { join } from 'node:path';
import { changeBy, locate, type Change, type Notice, type Report, type UnlocatedChange } from '../change.ts';
import type { ApplyOverrides } from '../config/apply-overrides.ts';
import { readGraphqlContract } from '../graphql/read-contract.ts';
import { ifValid } from '../input-error.ts';
import { compareFile } from './compare-file.ts';
import { compareVersionStates, type Lifecycle } from './compare-versions.ts';
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

/** A change of a file as a whole. `from` and `to` are its paths. `from` is null if it did not exist. */
export function wholeFileChange(
  change: UnlocatedChange,
  file: string,
  from: string | null,
  to: string,
): ContractChange {
  const oldLocation = from === null ? null : { file: from, line: null };
  return { ...change, location: { file: to, line: null }, oldLocation, file, breaksReleased: false };
}

/** The changes of a package, and what the comparison did not understand. */
export interface PackageChanges {
  readonly changes: readonly ContractChange[];
  readonly notices: readonly Notice[];
}

/** All changes between two snapshots: version by version, then other files. `folder`: what reports show of the new one. */
export function compareSnapshots(
  from: Snapshot,
  to: Snapshot,
  folder: string,
  settings: PackageSettings,
  today: string,
  override: ApplyOverrides,
): PackageChanges {
  const notices: Notice[] = [];
  const context: Context = {
    from,
    to,
    folder,
    settings,
    today,
    minimumLifetimeMonths: settings.minimumLifetimeMonths,
    compare(before, now) {
      const existed = (): ((coordinate: string) => boolean) => existedIn(from, before.version, settings.partial);
      const report = compareFile(before.kind, before.read(), now.read(), settings, existed);
      notices.push(...report.notices);
      return report.changes.map((change) => override(change, now.path));
    },
  };
  const all = [...from.contracts.values(), ...to.contracts.values()];
  const versions = new Set(all.flatMap((file) => (isVersioned(file) ? file.version : [])));
  const others = new Set(all.filter((file) => !isVersioned(file)).map(({ path }) => path));
  const changes = [
    ...[...versions].flatMap((version) => compareVersion(context, version)),
    ...[...others].toSorted().flatMap((path) => compareUnversioned(context, path)),
  ];
  return { changes, notices };
}

interface Context extends Lifecycle {
  readonly from: Snapshot;
  readonly to: Snapshot;
  readonly folder: string;
  readonly settings: PackageSettings;
  compare(before: ContractFile, now: ContractFile): Report['changes'];
}

function isVersioned(file: ContractFile): file is ContractFile & { readonly version: string } {
  return file.version !== null && file.kind !== 'api';
}

function compareUnversioned(context: Context, path: string): ContractChange[] {
  const [before, now] = [context.from.contracts.get(path), context.to.contracts.get(path)];
  if (before === undefined) {
    const change = changeBy(workspaceRules.contractAdded, path, `${path} was added.`);
    return [wholeFileChange(change, path, null, now?.read().file ?? '')];
  }
  const changes = compareFiles(context, before, now);
  const { version, kind } = before;
  if (version === null) {
    const breaks = (context.settings.frozen ?? true) || (kind === 'append-only' && now !== undefined);
    return changes.map((change) => ({ ...change, file: path, breaksReleased: breaks && change.verdict === 'major' }));
  }
  // A major bump may break the types of a released version. Its SDL and schemas are compared on their own.
  const wasPreview = context.from.stateOf(version).status === 'preview';
  return [
    // The states of a version with other contracts are compared with them. Without, a report must not become a preview either.
    ...(filesOf(context.from, version).size === 0 ? compareStates(context, version) : []),
    ...changes.map((change) => ({ ...inFile(path, wasPreview)(change), breaksReleased: false })),
  ];
}

function compareStates(context: Context, version: string, isAdded = false, isRemoved = false): ContractChange[] {
  const [before, now] = [context.from.stateOf(version), context.to.stateOf(version)];
  const changes = compareVersionStates(version, isAdded ? null : before, isRemoved ? null : now, context);
  return changes.map(ofVersion(context, version));
}

/** A change of a version as a whole. */
function ofVersion({ from, to, folder }: Context, version: string): (change: UnlocatedChange) => ContractChange {
  const locator = { ...to.locator, file: join(folder, 'versions.json') };
  return (change) => ({
    ...change,
    ...locate(version, from.locator, locator),
    file: 'versions.json',
    breaksReleased: refusedRules.has(change.rule),
  });
}

function compareVersion(context: Context, version: string): ContractChange[] {
  const { from, to } = context;
  const [before, now] = [filesOf(from, version), filesOf(to, version)];
  const states = compareStates(context, version, before.size === 0, now.size === 0);
  if (before.size === 0 || now.size === 0) return states;
  const wasPreview = from.stateOf(version).status === 'preview';
  return [
    ...states,
    ...[...before].flatMap(([path, file]) => compareFiles(context, file, now.get(path)).map(inFile(path, wasPreview))),
    ...[...now.keys()]
      .filter((path) => !before.has(path))
      .map((path) => changeBy(workspaceRules.contractAdded, version, `${path} was added.`))
      .map(ofVersion(context, version)),
  ];
}

/** A change in a contract file. A major change of a preview is reported as minor. */
function inFile(file: string, preview: boolean): (change: Change) => ContractChange {
  return (change) => {
    if (change.verdict !== 'major') return { ...change, file, breaksReleased: false };
    if (!preview) return { ...change, file, breaksReleased: true };
    const { id, verdict, why } = workspaceRules.previewChanged;
    return { ...change, rule: id, verdict, why, file, breaksReleased: false };
  };
}

function compareFiles(context: Context, file: ContractFile, counterpart: ContractFile | undefined): readonly Change[] {
  if (counterpart !== undefined) return context.compare(file, counterpart);
  const coordinate = isVersioned(file) ? file.version : file.path;
  const change = changeBy(workspaceRules.contractRemoved, coordinate, `${file.path} was removed.`);
  return [wholeFileChange(change, file.path, file.read().file, join(context.folder, file.path))];
}

/** Returns whether the SDL of a version had a coordinate. Without valid SDL, every coordinate is assumed to have existed. */
function existedIn(baseline: Snapshot, version: string | null, partial: boolean): (coordinate: string) => boolean {
  const all = [...baseline.contracts.values(), ...baseline.schemas].filter(
    (file) => file.kind === 'graphql' && isVersioned(file) && file.version === version,
  );
  // The comparison of the SDL reports what is invalid.
  const contracts = all.map((sdl) =>
    ifValid(() => readGraphqlContract([sdl.read()], { partial, withoutDirectives: false, isOld: true })),
  );
  return (coordinate) =>
    contracts.length === 0 ||
    contracts.some((contract) => contract === null || contract.locator.locationOf(coordinate) !== null);
}

function filesOf(snapshot: Snapshot, version: string | null): Map<string, ContractFile> {
  return new Map([...snapshot.contracts].filter(([, file]) => isVersioned(file) && file.version === version));
}
