import type { Change, SourceText } from '@deedwire/contract-check';
import { code, table } from './markdown.ts';
import { readText } from './workspace-files.ts';

export type Difference = Pick<Change, 'coordinate' | 'verdict' | 'message'>;

/** @param file path relative to the workspace root */
export function sourceOf(file: string): SourceText {
  return { file, text: readText(file) };
}

export function differencesHeading(olderVersion: string): string {
  return `Changes since ${olderVersion}`;
}

/** The changes that matter when you migrate from an older version. Changes to descriptions are omitted. */
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
  return [`## ${differencesHeading(olderVersion)}`, table(['element', 'breaking', 'change'], rows)];
}
