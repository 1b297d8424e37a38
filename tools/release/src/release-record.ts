import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractFilesOf, statesFile } from './contract-files.ts';
import { coordinatesOf } from './coordinates.ts';

/** A change as `contract-check` reports it. */
export interface ReportedChange {
  readonly file: string;
  readonly rule: string;
  readonly verdict: string;
  readonly coordinate: string;
  readonly message: string;
}

export interface RecordedChange {
  /** `major` if the change is breaking, including in a preview. */
  readonly verdict: string;
  readonly coordinate: string;
  readonly message: string;
}

/** The changes of a release in one subject. Changes of descriptions are omitted: all lists may be empty. */
export interface SubjectRecord {
  /** Whether the release is the first one that contains the subject. Then it has added all elements. */
  readonly isFirst: boolean;
  /** The status of the version in the release. Null for a contract file without a version, and for a removed version. */
  readonly status: string | null;
  /** The coordinates of the elements that the release added, sorted. */
  readonly added: readonly string[];
  /** The coordinates of the elements that the release removed, sorted. */
  readonly removed: readonly string[];
  readonly changes: readonly RecordedChange[];
}

/**
 * Subject → what the release changed. A subject is a version (`2026-11-01`, `order.placed/2026-11-01`), or the path of a
 * contract file that has none (`delivery-headers.json`).
 */
export type ReleaseRecord = Readonly<Record<string, SubjectRecord>>;

/** Package version → record, oldest first. */
export type ReleaseRecords = Readonly<Record<string, ReleaseRecord>>;

/** The file of a package that contains its records. Only `pnpm run version` writes it. */
const recordsFile = 'releases.json';

/** Empty if the package has not been released, or has no versions. */
export function readRecords(packageFolder: string): ReleaseRecords {
  const file = join(packageFolder, recordsFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Adds the record of a release to the records of the package. */
export function writeRecord(packageFolder: string, version: string, record: ReleaseRecord): void {
  const records = { ...readRecords(packageFolder), [version]: record };
  writeFileSync(join(packageFolder, recordsFile), `${JSON.stringify(records, null, 2)}\n`);
}

/** The contracts of a package whose elements are recorded. */
export interface RecordedContracts {
  /** The texts of the files, by path in the package. */
  readonly texts: ReadonlyMap<string, string>;
  /** The text of `versions.json`. Null if the package has none. */
  readonly states: string | null;
}

export function readContracts(packageFolder: string): RecordedContracts {
  const read = (path: string): string => readFileSync(join(packageFolder, path), 'utf8');
  const paths = contractFilesOf(packageFolder);
  // An API report is about exports of the package, not about a version.
  const contracts = paths.filter((path) => path !== statesFile && !path.startsWith('api/'));
  return {
    texts: new Map(contracts.map((path) => [path, read(path)])),
    states: paths.includes(statesFile) ? read(statesFile) : null,
  };
}

/**
 * The record of what a release changes.
 *
 * @param records those of the releases before
 * @param changes what `contract-check` reports about the contracts since the latest release
 */
export function recordOf(
  records: ReleaseRecords,
  { texts, states }: RecordedContracts,
  changes: readonly ReportedChange[],
): ReleaseRecord {
  const listed = changes.filter(({ file }) => !file.startsWith('api/'));
  const elements = Map.groupBy(texts, ([path]) => subjectOf(path));
  const subjects = new Set([...elements.keys(), ...listed.map(subjectOfChange)]);
  const record = [...subjects].toSorted().map((subject): [string, SubjectRecord] => {
    const before = releasedElements(records, subject);
    const files = elements.get(subject);
    const now = new Set(files?.flatMap(([path, text]) => [...coordinatesOf(path, text)]) ?? before);
    const own = listed.filter((change) => subjectOfChange(change) === subject);
    return [
      subject,
      {
        isFirst: before === null,
        status: files === undefined ? null : statusIn(states, subject),
        added: [...now].filter((coordinate) => before?.has(coordinate) !== true).toSorted(),
        removed: [...(before ?? [])].filter((coordinate) => !now.has(coordinate)).toSorted(),
        changes: before === null ? [] : own.filter(isMoreThanWording).map(recorded),
      },
    ];
  });
  const changed = new Set(listed.map(subjectOfChange));
  return Object.fromEntries(
    record.filter(
      ([subject, { isFirst, added, removed, status }]) =>
        isFirst ||
        added.length + removed.length > 0 ||
        changed.has(subject) ||
        status !== releasedStatus(records, subject),
    ),
  );
}

/**
 * What is not released yet, as far as the records show it: elements that were added or removed, and changes of the status. The
 * other changes are known when the version is cut, because the records do not contain the released contracts.
 */
export function unreleasedRecord(records: ReleaseRecords, contracts: RecordedContracts): ReleaseRecord {
  const record = Object.entries(recordOf(records, contracts, []));
  return Object.fromEntries(
    record.map(([subject, each]) => [subject, { ...each, changes: each.isFirst ? [] : changesOf(subject, each) }]),
  );

  function changesOf(subject: string, { added, removed, status }: SubjectRecord): RecordedChange[] {
    const before = releasedStatus(records, subject);
    return [
      ...(status === before
        ? []
        : [{ verdict: 'minor', coordinate: subject, message: `The status changed from ${before} to ${status}.` }]),
      ...outermost(removed).map((coordinate) => ({ verdict: 'major', coordinate, message: 'Removed.' })),
      ...outermost(added).map((coordinate) => ({ verdict: 'minor', coordinate, message: 'Added.' })),
    ];
  }
}

/** The elements that are not inside another one of them: `Branch`, not `Branch.id`. */
function outermost(coordinates: readonly string[]): string[] {
  return coordinates.filter(
    (inner) => !coordinates.some((outer) => inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}(`)),
  );
}

/** The elements of a subject in the latest release. Null if no release contains the subject. */
function releasedElements(records: ReleaseRecords, subject: string): ReadonlySet<string> | null {
  return Object.values(records).reduce<Set<string> | null>((elements, record) => {
    const own = record[subject];
    if (own === undefined) return elements;
    const { isFirst, added, removed } = own;
    if (isFirst) return new Set(added);
    return new Set([...(elements ?? []), ...added].filter((coordinate) => !removed.includes(coordinate)));
  }, null);
}

/** The status of a version in the latest release. Null if no release contains the version. */
export function releasedStatus(records: ReleaseRecords, subject: string): string | null {
  const last = Object.values(records).findLast((record) => record[subject] !== undefined);
  return last?.[subject]?.status ?? null;
}

/** @param states `versions.json`: states by version, or by event type and version */
function statusIn(states: string | null, subject: string): string | null {
  let state: unknown = states === null ? null : JSON.parse(states);
  for (const key of subject.split('/')) state = Object.entries(state ?? {}).find(([name]) => name === key)?.[1];
  if (typeof state !== 'object' || state === null || !('status' in state)) return null;
  return typeof state.status === 'string' ? state.status : null;
}

/** The subject of a contract file: `versions/2026-11-01.graphql` → `2026-11-01`. */
export function subjectOf(path: string): string {
  const [, version] =
    /^versions\/(.+?)(?:\.graphql|\.manifest\.json)$/.exec(path) ?? /^json-schema\/(.+)\.json$/.exec(path) ?? [];
  return version ?? path;
}

function subjectOfChange({ file, coordinate }: ReportedChange): string {
  return file === statesFile ? coordinate : subjectOf(file);
}

function isMoreThanWording({ verdict }: ReportedChange): boolean {
  return verdict !== 'patch' && verdict !== 'none';
}

/** The rule that reports a breaking change of a preview as minor. */
export const previewRule = 'version/previewChanged';

function recorded({ rule, verdict, coordinate, message }: ReportedChange): RecordedChange {
  return { verdict: rule === previewRule ? 'major' : verdict, coordinate, message };
}

/**
 * The release that added an element.
 *
 * @param coordinate null for the subject as a whole
 * @returns null if no release contains it
 */
export function addedIn(records: ReleaseRecords, subject: string, coordinate: string | null): string | null {
  const releases = Object.entries(records).toReversed();
  const added =
    coordinate === null ? undefined : releases.find(([, record]) => record[subject]?.added.includes(coordinate));
  return (added ?? releases.find(([, record]) => record[subject]?.isFirst))?.[0] ?? null;
}
