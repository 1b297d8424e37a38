import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractFilesOf, releasedFilesOf } from './contract-files.ts';
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
  /** `major` if the change is breaking, also in a preview. */
  readonly verdict: string;
  readonly coordinate: string;
  readonly message: string;
}

/** The changes of a release in one subject. Changes of descriptions are omitted: both lists may be empty. */
export interface SubjectRecord {
  /** Whether the release is the first one that contains the subject. Its elements are then not listed. */
  readonly isFirst: boolean;
  /** The coordinates of the elements that the release added, sorted. */
  readonly added: readonly string[];
  readonly changes: readonly RecordedChange[];
}

/**
 * Subject → what the release changed. A subject is a version (`2026-11-01`, `referral.created/2026-11-01`), or the path of a
 * contract file that has none (`delivery-headers.json`).
 */
export type ReleaseRecord = Readonly<Record<string, SubjectRecord>>;

/** Package version → record, oldest first. */
export type ReleaseRecords = Readonly<Record<string, ReleaseRecord>>;

/** The file of a package that contains its records. Only `pnpm run version` writes it. */
export const recordsFile = 'releases.json';

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

/** The contract files of a package whose elements are recorded, and their texts, by path in the package. */
export type ContractTexts = ReadonlyMap<string, string>;

/** The contract files in the working tree. */
export function currentContracts(packageFolder: string): ContractTexts {
  return textsOf(packageFolder, contractFilesOf(packageFolder));
}

/** The contract files in `released/`. Empty before the first release. */
export function releasedContracts(packageFolder: string): ContractTexts {
  return textsOf(join(packageFolder, 'released'), releasedFilesOf(packageFolder));
}

function textsOf(folder: string, paths: readonly string[]): ContractTexts {
  // An API report is about exports of the package, not about a version.
  const contracts = paths.filter((path) => path !== statesFile && !path.startsWith('api/'));
  return new Map(contracts.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

const statesFile = 'versions.json';

/**
 * The record of the changes between two states of the contracts of a package.
 *
 * @param changes what `contract-check` reports about the two states
 */
export function recordOf(
  before: ContractTexts,
  after: ContractTexts,
  changes: readonly ReportedChange[],
): ReleaseRecord {
  const subjectsBefore = new Set([...before.keys()].map(subjectOf));
  const listed = changes.filter(({ file }) => !file.startsWith('api/'));
  const changedFiles = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
  const subjects = new Set([...changedFiles.map(subjectOf), ...listed.map(subjectOfChange)]);
  return Object.fromEntries(
    [...subjects].toSorted().map((subject) => {
      const isFirst = !subjectsBefore.has(subject);
      const added = isFirst ? [] : changedFiles.filter((path) => subjectOf(path) === subject).flatMap(newElements);
      const own = isFirst ? [] : listed.filter((change) => subjectOfChange(change) === subject);
      return [subject, { isFirst, added: added.toSorted(), changes: own.filter(isMoreThanWording).map(recorded) }];
    }),
  );

  function newElements(path: string): string[] {
    const known = before.has(path) ? coordinatesOf(path, before.get(path) ?? '') : new Set<string>();
    return [...coordinatesOf(path, after.get(path) ?? '')].filter((coordinate) => !known.has(coordinate));
  }
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
