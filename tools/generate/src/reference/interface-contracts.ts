import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { mapElements } from '@deedwire/release';
import { buildASTSchema, type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { type Example, readExamples } from './examples.ts';
import { type History, readHistory, type Remark, remarksOn } from './history.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type Manifest, readManifest } from './manifest.ts';

export interface InterfaceVersion extends Lifecycle {
  /** Its descriptions contain the remarks. */
  readonly schema: GraphQLSchema;
  readonly manifest: Manifest;
  /** About the releases that added elements. */
  readonly remark: Remark;
  /** One for each operation, in the order of the SDL. */
  readonly examples: readonly Example[];
}

export interface InterfaceContract {
  readonly name: 'lender' | 'partner';
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

/** Both interfaces with all their versions. */
export function readInterfaceContracts(): InterfaceContract[] {
  return [readContract('lender', '/lenders/graphql', lender), readContract('partner', '/partners/graphql', partner)];
}

interface Registry {
  readonly versions: readonly Lifecycle[];
  readonly sdl: (version: string) => string;
}

function readContract(name: InterfaceContract['name'], path: string, registry: Registry): InterfaceContract {
  const history = readHistory(packageFolder(name));
  return { name, path, history, versions: readVersions(packageFolder(name), history, registry) };
}

function readVersions(folder: string, history: History, { versions, sdl }: Registry): InterfaceVersion[] {
  const schemas = new Map(
    versions.map(({ version }) => [
      version,
      buildASTSchema(parseWithRemarks(sdl(version), remarksOn(history, version))),
    ]),
  );
  const examples = readExamples(`${folder}/examples`, schemas);
  return versions.flatMap((lifecycle) => {
    const schema = schemas.get(lifecycle.version);
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
