import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type InterfaceName, interfaceOf, type Service, ServiceError } from '@deedwire/core';
import {
  acceptAnyId,
  addConnections,
  addWebhooks,
  type Contract,
  createSchemaBuilder,
  type InterfaceCode,
  serveContract,
} from '@deedwire/graphql-server';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  resolveSchemaCoordinate,
} from 'graphql';
import type { ServedVersion } from './define-service.ts';

/** What every interface has, by the date of its edition. */
const editions: Readonly<Record<string, () => GraphQLSchema>> = {
  '2026-11-01': () => {
    const builder = createSchemaBuilder();
    addWebhooks(builder, addConnections(builder), { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
    return builder.toSchema();
  },
};

/**
 * The code of an interface that has nothing but what every interface has. A later release of this package can have more: each version
 * serves only what its SDL has.
 *
 * @param folder has the SDL of each version, `<interface>/<date>.graphql`
 * @throws {ServiceError} if the SDL of a version cannot be read, or its date is none of an edition
 */
export function commonHalf(service: Service, name: InterfaceName, folder: string): InterfaceCode {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
  const versions = interfaceOf(service, name).versions as readonly ServedVersion[];
  const served = versions
    .filter(({ status }) => status !== 'retired')
    .map(({ version }) => {
      const sdl = readSdl(join(folder, name, `${version}.graphql`));
      const schema = only(createEdition(name, version), buildSchema(sdl));
      return { version, sdl, schema, manifest: readManifest(version, schema) };
    });
  const of = (version: string) => {
    const found = served.find((each) => each.version === version);
    if (found === undefined) throw new RangeError(`${name} does not serve ${version}.`);
    return found;
  };
  const contract: Contract = {
    versions,
    sdl: (version) => of(version).sdl,
    abilities: (version) => of(version).manifest.abilities,
    costs(version) {
      const { costWeights, costListSizes, costPageMaximums, pagination } = of(version).manifest;
      return {
        weights: costWeights,
        listSizes: costListSizes,
        pageMaximums: costPageMaximums,
        pageSizeMaximum: pagination.firstMaximum,
      };
    },
  };
  return {
    contract: serveContract(contract, new Map(served.map(({ version, schema }) => [version, schema]))),
  };
}

/** @throws {ServiceError} */
function readSdl(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT')
      throw new ServiceError([`The SDL ${file} is missing. Write it with \`deedwire init\`.`]);
    throw error;
  }
}

function createEdition(name: string, date: string): GraphQLSchema {
  const create = editions[date];
  if (create === undefined)
    throw new ServiceError([
      `The interface ${name} has the version ${date}, and no edition has this date. There are ${Object.keys(editions).join(', ')}.`,
    ]);
  const schema = create();
  // npm gives its dependencies the graphql of the application if their ranges allow it.
  if (schema instanceof GraphQLSchema) return schema;
  throw new ServiceError([
    'The dependencies of @deedwire/service use another copy of graphql than itself. Set "overrides": { "@deedwire/service": { "graphql": "^17" } } in package.json, remove node_modules and package-lock.json, and install again.',
  ]);
}

/** The parts of a schema that the SDL has too. `serveContract` finds what only the SDL has. */
function only(schema: GraphQLSchema, promised: GraphQLSchema): GraphQLSchema {
  const fieldsOf = (typeName: string): Readonly<Record<string, GraphQLInputField | GraphQLField<unknown, unknown>>> => {
    const type = promised.getType(typeName);
    return isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? type.getFields() : {};
  };
  return mapSchema(schema, {
    [MapperKind.TYPE]: (type) => (promised.getType(type.name) === undefined ? null : undefined),
    [MapperKind.COMPOSITE_FIELD]: (field, name, typeName) => {
      const known = fieldsOf(typeName)[name];
      if (known === undefined) return null;
      const promisedArgs = 'args' in known ? known.args : [];
      const args = Object.entries(field.args ?? {}).filter(([arg]) => promisedArgs.some((each) => each.name === arg));
      return { ...field, args: Object.fromEntries(args) };
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (_, name, typeName) => (name in fieldsOf(typeName) ? undefined : null),
    [MapperKind.ENUM_VALUE]: (_, typeName, __, value) => {
      const type = promised.getType(typeName);
      return isEnumType(type) && type.getValue(value) !== undefined ? undefined : null;
    },
  });
}

interface Manifest {
  readonly abilities: Readonly<Record<string, readonly string[]>>;
  readonly costWeights: Readonly<Record<string, number>>;
  readonly costListSizes: Readonly<Record<string, number>>;
  readonly costPageMaximums: Readonly<Record<string, number>>;
  readonly pagination: { readonly firstMaximum: number };
}

/** What an edition says of what the schema has. */
function readManifest(date: string, schema: GraphQLSchema): Manifest {
  const manifest: Manifest = JSON.parse(
    readFileSync(new URL(`../common/${date}.manifest.json`, import.meta.url), 'utf8'),
  );
  const known = <Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(entries).filter(([coordinate]) => resolveSchemaCoordinate(schema, coordinate)));
  return {
    ...manifest,
    abilities: known(manifest.abilities),
    costWeights: known(manifest.costWeights),
    costListSizes: known(manifest.costListSizes),
    costPageMaximums: known(manifest.costPageMaximums),
  };
}
