import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { readExamples, type Example } from './examples.ts';
import type { Lifecycle } from './lifecycle.ts';
import { readManifest, type Manifest } from './manifest.ts';

export interface InterfaceVersion extends Lifecycle {
  readonly schema: GraphQLSchema;
  readonly manifest: Manifest;
  /** One for each operation, in the order of the SDL. */
  readonly examples: readonly Example[];
}

export interface InterfaceContract {
  readonly name: 'lender' | 'partner';
  /** Path of the endpoint, relative to the base URL. */
  readonly path: string;
  /** Oldest first. */
  readonly versions: readonly InterfaceVersion[];
}

/** Folder of the contract package, relative to the workspace root. */
export function packageFolder(name: InterfaceContract['name']): string {
  return `packages/${name}-schema`;
}

/** Both interfaces with all their versions. */
export function readInterfaceContracts(): InterfaceContract[] {
  return [
    { name: 'lender', path: '/lenders/graphql', versions: readVersions('lender', lender) },
    { name: 'partner', path: '/partners/graphql', versions: readVersions('partner', partner) },
  ];
}

interface Registry {
  readonly versions: readonly Lifecycle[];
  readonly sdl: (version: string) => string;
}

function readVersions(name: InterfaceContract['name'], { versions, sdl }: Registry): InterfaceVersion[] {
  const folder = packageFolder(name);
  const schemas = new Map(versions.map(({ version }) => [version, buildSchema(sdl(version))]));
  const examples = readExamples(`${folder}/examples`, schemas);
  return versions.flatMap((lifecycle) => {
    const schema = schemas.get(lifecycle.version);
    if (schema === undefined) return [];
    const manifest = readManifest(`${folder}/versions/${lifecycle.version}.manifest.json`);
    return { ...lifecycle, schema, manifest, examples: examples.get(lifecycle.version) ?? [] };
  });
}
