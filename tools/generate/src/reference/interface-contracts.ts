import { type InterfaceName, interfaceNames, interfaces } from '@deedwire/firm/interfaces';
import { mapElements } from '@deedwire/release';
import { buildASTSchema, type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { type ComposedVersion, commonFolder, readComposedVersions } from '../composed/editions.ts';
import { fillSlotsOf } from '../composed/slots.ts';
import { type ListedVersion, readInterfaceVersions } from '../event-versions.ts';
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
  readonly name: InterfaceName;
  /** Path of the endpoint, relative to the base URL. */
  readonly path: string;
  readonly history: History;
  /** Oldest first. */
  readonly versions: readonly InterfaceVersion[];
}

/** Folder of the contract package, relative to the workspace root. */
export function packageFolder(name: InterfaceContract['name']): string {
  return `packages/${name}-schema`;
}

/** Each interface with all its versions. */
export function readInterfaceContracts(): InterfaceContract[] {
  const composed = readComposedVersions();
  const contracts = interfaceNames.map((name) => {
    const history = readHistory(packageFolder(name));
    const path = `${interfaces[name].path}/graphql`;
    return { name, path, history, versions: readVersions(name, history, composed) };
  });
  const examples = contracts.flatMap(({ versions }) => versions.flatMap((version) => version.examples));
  requireUsed(`${commonFolder}/examples`, examples);
  return contracts;
}

function readVersions(name: InterfaceName, history: History, composed: readonly ComposedVersion[]): InterfaceVersion[] {
  const folder = packageFolder(name);
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
          fillSlotsOf: (path: string, text: string) => fillSlotsOf(name, path, text),
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
