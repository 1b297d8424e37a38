import { compareGraphql, compareManifests } from '@deedwire/contract-check';
import { sourceOf, type Difference } from '../differences.ts';

/** The paths are those of the contracts without file extension, relative to the workspace root. */
export function interfaceDifferences(older: string, newer: string): Difference[] {
  const schemas = compareGraphql(sourceOf(`${older}.graphql`), sourceOf(`${newer}.graphql`));
  const manifests = compareManifests(sourceOf(`${older}.manifest.json`), sourceOf(`${newer}.manifest.json`));
  return [...schemas.changes, ...manifests.changes];
}
