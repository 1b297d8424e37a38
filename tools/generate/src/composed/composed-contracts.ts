import { composeSdl, ownFields } from '@deedwire/graphql-server/compose-sdl';
import type { Layout } from '@deedwire/layout';
import { readJson } from '@deedwire/layout/read-json';
import { buildSchema } from 'graphql';
import { z } from 'zod';
import type { Generated } from '../generated.ts';
import { commonFolder } from '../platform-folders.ts';
import { findFiles, readText } from '../workspace-files.ts';
import { composeManifest, fieldSections, printManifest } from './compose-manifest.ts';
import {
  type ComposedVersion,
  composedPath,
  type Extension,
  readComposedVersions,
  readEditions,
  sourcesOf,
} from './editions.ts';
import { fillSlotsOf } from './slots.ts';

export const sections = z.record(z.string(), z.record(z.string(), z.unknown()));

/** The SDL and the manifest of each version of each interface, from what only it has and from its edition of the common half. */
export function composedContracts(layout: Layout): Generated {
  const versions = readComposedVersions(layout);
  requireUsed(layout, versions);
  return {
    files: new Map(
      versions.flatMap((version) => [
        [composedPath(version, 'graphql'), composed(layout, version, 'graphql', sdlOf)] as const,
        [composedPath(version, 'manifest.json'), composed(layout, version, 'manifest.json', manifestOf)] as const,
      ]),
    ),
  };
}

/** @throws {Error} if there is a source of no version */
function requireUsed({ interfaceNames, contractOf }: Layout, versions: readonly ComposedVersion[]): void {
  const editions = readEditions().flatMap(({ date }) => [`${date}.graphql`, `${date}.manifest.json`]);
  const used = new Set([
    ...editions.map((file) => `${commonFolder}/editions/${file}`),
    ...versions.flatMap((version) => [...sourcesOf(version, 'graphql'), ...sourcesOf(version, 'manifest.json')]),
  ]);
  const found = [
    ...findFiles(`${commonFolder}/editions/*`),
    ...interfaceNames.flatMap((name) => findFiles(`${contractOf(name)}/own/2*`)),
  ];
  const stray = found.find((path) => !used.has(path));
  if (stray !== undefined) throw new Error(`${stray}: no list of versions or editions has it.`);
}

/** Names the sources in errors about what is composed of them. */
function composed(
  layout: Layout,
  version: ComposedVersion,
  extension: Extension,
  compose: (version: ComposedVersion, sources: readonly string[]) => string,
): string {
  const sources = sourcesOf(version, extension);
  const path = composedPath(version, extension);
  const text = compose(version, sources);
  try {
    const filled = fillSlotsOf(layout, version.name, path, text);
    if (extension === 'graphql') buildSchema(filled);
    return filled;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\nIn ${path}, composed of ${sources.join(', ')}.`, { cause: error });
  }
}

function sdlOf({ name, date, editions }: ComposedVersion, [ownPath = '', ...paths]: readonly string[]): string {
  const dates = editions.length === 1 ? editions[0]?.date : `{${editions.map((edition) => edition.date).join()}}`;
  const sources = `own/${date}.graphql and ${commonFolder}/editions/${dates}.graphql`;
  return composeSdl(
    `# The ${name.replaceAll('-', ' ')} interface at version ${date}, composed by \`pnpm generate\` of ${sources}.`,
    { path: ownPath, text: readText(ownPath) },
    paths.map((path, index) => ({ path, text: readText(path), removes: editions[index]?.removes ?? [] })),
  );
}

function manifestOf(version: ComposedVersion, [ownPath = '', ...paths]: readonly string[]): string {
  const own = readJson(ownPath, sections);
  const [ownSdl = ''] = sourcesOf(version, 'graphql');
  const fields = ownFields({ path: ownSdl, text: readText(ownSdl) });
  const named = fieldSections.flatMap((section) => Object.keys(own[section] ?? {}));
  const stray = named.find((coordinate) => !fields.has(coordinate));
  if (stray !== undefined) throw new Error(`${ownPath}: ${stray} is no field that ${ownSdl} defines.`);
  try {
    return printManifest(
      composeManifest(
        own,
        paths.map((path) => readJson(path, sections)),
      ),
    );
  } catch (error) {
    throw new Error(`${[ownPath, ...paths].join(', ')}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
