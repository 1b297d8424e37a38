import type { Change, SourceText } from '@deedwire/contract-check';
import { code, table } from './markdown.ts';
import { readText } from './workspace-files.ts';

export type Difference = Pick<Change, 'coordinate' | 'verdict' | 'message'>;

/** @param file from the root of the workspace */
export function sourceOf(file: string): SourceText {
  return { file, text: readText(file) };
}

export function differencesHeading(olderVersion: string): string {
  return `Different from ${olderVersion}`;
}

/** What whoever moves from an older version has to know, words apart. */
export function describeDifferences(olderVersion: string, differences: readonly Difference[]): string[] {
  const byCoordinate = Map.groupBy(
    differences.filter(({ verdict }) => verdict !== 'patch'),
    ({ coordinate }) => coordinate,
  );
  const rows = Array.from(byCoordinate, ([coordinate, found]) => [
    code(coordinate),
    found.some(({ verdict }) => verdict === 'major') ? 'yes' : 'no',
    [...new Set(found.map(({ message }) => message))].join(' '),
  ]);
  return [`## ${differencesHeading(olderVersion)}`, table(['where', 'breaking', 'what'], rows)];
}
