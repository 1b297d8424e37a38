import type { SubjectRecord } from '@deedwire/release';
import { docsFolder } from '../platform-folders.ts';
import { differenceTable } from './differences.ts';
import type { History } from './history.ts';
import { code, link, page } from './markdown.ts';
import type { PathTo } from './path-to.ts';

interface ChangelogOptions {
  /** For example `the customer interface`. */
  readonly of: string;
  readonly history: History;
  /** The version, as a subject of the release records. */
  readonly subject: string;
  /** The folder of the reference, relative to the changelog. */
  readonly root: string;
  /** Relative to the changelog. */
  readonly pathTo: PathTo;
}

/** What each release changed in one version of an interface or an event type, newest first. */
export function changelogPage({ of, history, subject, root, pathTo }: ChangelogOptions): string {
  const { packageName, records, unreleased } = history;
  const releases = Object.entries({ ...records, 'Next release': unreleased }).toReversed();
  const version = subject.replace(/.*\//, '');
  const links = [
    link('this version', `${version}.md`),
    link('all versions', `${root}/README.md`),
    link('version lifecycle', pathTo(`${docsFolder}/versions.md`)),
  ];
  return page(`Changelog of ${of}, ${version}`, [
    `The changes of this version in each release of ${code(packageName)}. Releases that do not change it are omitted.`,
    `See also: ${links.join(' · ')}.`,
    ...releases.flatMap(([release, record]) => describeRelease(release, record[subject], subject)),
  ]);
}

function describeRelease(release: string, record: SubjectRecord | undefined, subject: string): string[] {
  if (record === undefined) return [];
  if (record.isFirst) return [`## ${release}`, 'The version was added.'];
  if (record.changes.length === 0) return [`## ${release}`, 'Only descriptions changed.'];
  const changes = record.changes.map((change) => ({
    ...change,
    coordinate: change.coordinate === subject ? 'version' : change.coordinate.replace(/^\$\./, ''),
  }));
  return [`## ${release}`, differenceTable(changes)];
}
