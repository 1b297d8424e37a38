import { compareGraphql, compareManifests, type SourceText } from '@deedwire/contract-check';
import type { RecordedChange } from '@deedwire/release';
import { readText } from '../workspace-files.ts';
import { code, table } from './markdown.ts';

/** @param file path relative to the workspace root */
export function sourceOf(file: string): SourceText {
  return { file, text: readText(file) };
}

/** The changes that matter when you migrate from an older version. Changes to descriptions are omitted. */
export function describeDifferences(olderVersion: string, differences: readonly RecordedChange[]): string[] {
  return [`## Changes since ${olderVersion}`, differenceTable(differences)];
}

/** A row for each element. Changes to descriptions are omitted. */
export function differenceTable(differences: readonly RecordedChange[]): string {
  const rows = changesByElement(differences).map((each) => [
    code(each.element),
    each.isBreaking ? 'yes' : 'no',
    each.message,
  ]);
  return table(['element', 'breaking', 'change'], rows);
}

/** The changes of each element together. Changes to descriptions are omitted. */
export function changesByElement(
  differences: readonly RecordedChange[],
): { element: string; isBreaking: boolean; message: string }[] {
  const byCoordinate = Map.groupBy(
    differences.filter(({ verdict }) => verdict !== 'patch'),
    ({ coordinate }) => coordinate,
  );
  return Array.from(byCoordinate, ([element, found]) => ({
    element,
    isBreaking: found.some(isBreaking),
    message: [...new Set(found.map(({ message }) => message))].join(' '),
  }));
}

export function isBreaking({ verdict }: RecordedChange): boolean {
  return verdict === 'major';
}

/** The breaking and the other changes between two versions, for an upgrade guide. */
export function describeUpgrade(differences: readonly RecordedChange[]): string[] {
  const breaking = new Set(differences.filter(isBreaking).map(({ coordinate }) => coordinate));
  const [required, others] = [true, false].map((isRequired) =>
    differences.filter(({ coordinate, verdict }) => verdict !== 'patch' && breaking.has(coordinate) === isRequired),
  );
  return ['## Breaking changes', tableOrNone(required), '## Other changes', tableOrNone(others)];
}

function tableOrNone(differences: readonly RecordedChange[] = []): string {
  return differences.length === 0 ? 'None.' : differenceTable(differences);
}

/** @param folder of the contract package, relative to the workspace root */
export function interfaceDifferences(folder: string, older: string, newer: string): RecordedChange[] {
  const source = (version: string, kind: string) => sourceOf(`${folder}/versions/${version}.${kind}`);
  const schemas = compareGraphql(source(older, 'graphql'), source(newer, 'graphql'));
  const manifests = compareManifests(source(older, 'manifest.json'), source(newer, 'manifest.json'));
  return [...schemas.changes, ...manifests.changes];
}
