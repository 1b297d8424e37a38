import type { Names } from '@deedwire/core';
import type { Layout } from '@deedwire/layout';
import { mapElements } from '@deedwire/release';
import { buildASTSchema, type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { type ComposedVersion, readComposedVersions } from '../composed/editions.ts';
import { fillSlotsOf } from '../composed/slots.ts';
import { type ListedVersion, readInterfaceVersions } from '../event-versions.ts';
import { commonFolder } from '../platform-folders.ts';
import { readText } from '../workspace-files.ts';
import { type Example, readExamples, requireUsed } from './examples.ts';
import { type History, readHistory, type Remark, remarksOn } from './history.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface InterfaceVersion extends ListedVersion {
  /** Its descriptions contain the remarks. */
  readonly schema: GraphQLSchema;
  readonly manifest: Manifest;
  /** About the releases that added elements. */
  readonly remark: Remark;
  /** One for each operation, in the order of the SDL. */
  readonly examples: readonly Example[];
}

export interface InterfaceContract {
  readonly name: string;
  /** In headings. */
  readonly title: string;
  /** Of the service. */
  readonly names: Names;
  /** The folder of the contract, relative to the workspace root. */
  readonly folder: string;
  /** Path of the endpoint, relative to the base URL. */
  readonly path: string;
  readonly history: History;
  /** Oldest first. */
  readonly versions: readonly InterfaceVersion[];
}

/** Each interface of a service, with all its versions. */
export function readInterfaceContracts(layout: Layout): InterfaceContract[] {
  const { names, interfaces, contractOf } = layout;
  const composed = readComposedVersions(layout);
  const contracts = Object.entries(interfaces).map(([name, { title, path: base = `/${name}` }]) => {
    const folder = contractOf(name);
    const history = readHistory(folder);
    const versions = readVersions(layout, name, history, composed);
    return { name, title, names, folder, path: `${base}/graphql`, history, versions };
  });
  const examples = contracts.flatMap(({ versions }) => versions.flatMap((version) => version.examples));
  requireUsed(`${commonFolder}/examples`, examples);
  return contracts;
}

function readVersions(
  layout: Layout,
  name: string,
  history: History,
  composed: readonly ComposedVersion[],
): InterfaceVersion[] {
  const folder = layout.contractOf(name);
  const versions = readInterfaceVersions(folder);
  const read = new Map(
    versions.map(({ version: date }) => {
      const sdl = parseWithRemarks(readText(`${folder}/versions/${date}.graphql`), remarksOn(history, date));
      const { editions = [] } = composed.find((each) => each.name === name && each.date === date) ?? {};
      return [
        date,
        {
          schema: buildASTSchema(sdl),
          common: editions.map((edition) => `${commonFolder}/examples/${edition.date}`).toReversed(),
          fillSlotsOf: (path: string, text: string) => fillSlotsOf(layout, name, path, text),
        },
      ] as const;
    }),
  );
  const examples = readExamples(`${folder}/examples`, read);
  return versions.flatMap((lifecycle) => {
    const { schema } = read.get(lifecycle.version) ?? {};
    if (schema === undefined) return [];
    const manifest = readManifest(`${folder}/versions/${lifecycle.version}.manifest.json`);
    const remark = remarksOn(history, lifecycle.version);
    return { ...lifecycle, schema, manifest, remark, examples: examples.get(lifecycle.version) ?? [] };
  });
}

/**
 * Parses SDL and appends the remark of each element to its description. An element without a description stays without one, so
 * that the tests find it.
 */
function parseWithRemarks(sdl: string, remark: Remark): DocumentNode {
  return mapElements(parse(sdl), ({ description, ...element }, coordinate, parent) =>
    description === undefined
      ? undefined
      : { ...element, description: { ...description, value: description.value + remark(coordinate, parent) } },
  );
}
