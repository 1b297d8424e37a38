import type { Layout } from '@deedwire/layout';
import { readJson } from '@deedwire/layout/read-json';
import { z } from 'zod';
import { type ListedVersion, readInterfaceVersions } from '../event-versions.ts';
import { commonFolder } from '../platform-folders.ts';
import { fileExists } from '../workspace-files.ts';

const editionsList = `${commonFolder}/editions.json`;

const editionOf = z.strictObject({
  status: z.enum(['preview', 'current']),
  /** The types and root fields of earlier editions that this one does not have. */
  removes: z.array(z.string()).readonly(),
});

export interface Edition extends Readonly<z.infer<typeof editionOf>> {
  readonly date: string;
}

/** A version of an interface, which is composed. */
export interface ComposedVersion {
  /** Of the interface. */
  readonly name: string;
  /** That of its contract. */
  readonly folder: string;
  readonly date: string;
  /** Oldest first. The last one is that of the version, and the earlier ones are what it changes. */
  readonly editions: readonly Edition[];
}

/** Each edition, oldest first. */
export function readEditions(): Edition[] {
  return Object.entries(readJson(editionsList, z.record(z.iso.date(), editionOf)))
    .map(([date, edition]) => ({ date, ...edition }))
    .toSorted((one, other) => (one.date < other.date ? -1 : 1));
}

/** Each version of each interface of a service, with its edition. */
export function readComposedVersions({ interfaceNames, contractOf }: Layout): ComposedVersion[] {
  const editions = readEditions();
  return interfaceNames.flatMap((name) => {
    const folder = contractOf(name);
    const path = `${folder}/own/editions.json`;
    const chosen = readJson(path, z.record(z.string(), z.string()));
    return withEditions(path, readInterfaceVersions(folder), chosen, editions).map((version) => ({
      name,
      folder,
      ...version,
    }));
  });
}

/**
 * The versions of an interface with their editions.
 *
 * @param path of the file that names the editions, for messages
 * @param chosen version → edition
 * @param editions oldest first
 * @throws {Error} if a version has no edition, or one that it cannot use
 */
export function withEditions(
  path: string,
  versions: readonly Pick<ListedVersion, 'version' | 'status'>[],
  chosen: Readonly<Record<string, string>>,
  editions: readonly Edition[],
): Pick<ComposedVersion, 'date' | 'editions'>[] {
  const stray = Object.keys(chosen).find((date) => !versions.some(({ version }) => version === date));
  if (stray !== undefined) throw new Error(`${path}: versions.json has no version ${stray}.`);
  return versions.map(({ version: date, status }) => {
    const last = editions.findIndex((edition) => edition.date === chosen[date]);
    if (last === -1) throw new Error(`${path}: name an edition of ${editionsList} for version ${date}.`);
    const used = editions.slice(0, last + 1);
    const preview = used.find((edition) => edition.status === 'preview');
    if (status !== 'preview' && preview !== undefined)
      throw new Error(
        `${path}: version ${date} is ${status}, so it cannot use edition ${preview.date}, a preview. Release the edition in ${editionsList}, or choose an earlier one.`,
      );
    return { date, editions: used };
  });
}

export type Extension = 'graphql' | 'manifest.json';

/** The files of a version that people write, its own one first. A later edition that changes no entry of the manifest has none. */
export function sourcesOf({ folder, date, editions }: ComposedVersion, extension: Extension): string[] {
  const paths = editions.map((edition) => `${commonFolder}/editions/${edition.date}.${extension}`);
  return [
    `${folder}/own/${date}.${extension}`,
    ...paths.filter((path, index) => extension === 'graphql' || index === 0 || fileExists(path)),
  ];
}

export function composedPath({ folder, date }: ComposedVersion, extension: Extension): string {
  return `${folder}/versions/${date}.${extension}`;
}
