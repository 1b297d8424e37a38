import type { Manifest as PublishedManifest } from '../schema-packages/template/manifest.ts';
import { readText } from '../workspace-files.ts';

/** A manifest as the schema packages publish it, with each section that the pages show. */
export interface Manifest extends Required<Omit<PublishedManifest, '$schema' | 'description'>> {
  readonly pagination: Readonly<Record<'firstMinimum' | 'firstDefault' | 'firstMaximum', number>>;
}

const shown = [
  'errors',
  'requestHeaders',
  'responseHeaders',
  'limits',
  'pagination',
  'abilities',
  'costWeights',
  'costListSizes',
  'costPageMaximums',
];

/** @throws {Error} if the manifest has a section that no page shows */
export function readManifest(path: string): Manifest {
  const manifest: Manifest = JSON.parse(readText(path));
  const hidden = Object.keys(manifest).filter((part) => !shown.includes(part));
  if (hidden.length > 0) throw new Error(`${path}: the reference does not show ${hidden.join(', ')}`);
  return manifest;
}

/** As the schema packages export them. */
export function costsOf(manifest: Manifest) {
  const { costWeights: weights, costListSizes: listSizes, costPageMaximums: pageMaximums, pagination } = manifest;
  return { weights, listSizes, pageMaximums, pageSizeMaximum: pagination.firstMaximum };
}
