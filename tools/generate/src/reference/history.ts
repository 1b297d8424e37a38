import { join } from 'node:path';
import {
  addedIn,
  readContracts,
  readRecords,
  type ReleaseRecord,
  type ReleaseRecords,
  unreleasedRecord,
} from '@deedwire/release';
import { readText, workspaceRoot } from '../workspace-files.ts';

/** What the releases of a package changed in its contracts. */
export interface History {
  /** The name of the package, for example `@deedwire/customer-schema`. */
  readonly packageName: string;
  readonly records: ReleaseRecords;
  /** What the next release changes. */
  readonly unreleased: ReleaseRecord;
}

/**
 * Returns a sentence about the release that added an element, to append to its description.
 *
 * @param coordinate as in a `SubjectRecord`
 * @param parent the coordinate of the element around it. Null if there is none.
 */
export type Remark = (coordinate: string, parent: string | null) => string;

/**
 * The version of the package that added an element. Null if the next release adds it.
 *
 * @param coordinate null for the subject as a whole
 */
export function releaseOf({ records, unreleased }: History, subject: string, coordinate: string | null): string | null {
  const changed = unreleased[subject];
  const isAdded = coordinate !== null && changed?.added.includes(coordinate);
  return isAdded || changed?.isFirst ? null : addedIn(records, subject, coordinate);
}

/**
 * Returns the remarks about the elements of a subject. A remark is empty if the element has been part of its parent, or of the
 * subject, from the beginning.
 */
export function remarksOn(history: History, subject: string): Remark {
  return (coordinate, parent) => {
    const release = releaseOf(history, subject, coordinate);
    if (release === releaseOf(history, subject, parent)) return '';
    return ` Added in ${release ?? 'the next release'}.`;
  };
}

/** A sentence about the release that added a version, and about the remarks. */
export function describeAddition(history: History, subject: string): string {
  const release = releaseOf(history, subject, null) ?? 'the next release';
  return `This version and its elements were added in ${release} of \`${history.packageName}\`, unless an element names a later release.`;
}

/**
 * Reads no git history, so that the pages do not depend on the clone.
 *
 * @param folder the folder of the package, relative to the workspace root
 */
export function readHistory(folder: string): History {
  const { name }: { name: string } = JSON.parse(readText(`${folder}/package.json`));
  const location = join(workspaceRoot, folder);
  const records = readRecords(location);
  return { packageName: name, records, unreleased: unreleasedRecord(records, readContracts(location)) };
}
