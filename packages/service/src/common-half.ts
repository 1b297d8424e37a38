import { readFileSync } from 'node:fs';
import { ServiceError } from '@deedwire/core';
import {
  acceptAnyId,
  addConnections,
  type ConnectionOf,
  addWebhooks,
  createSchemaBuilder,
  type InterfaceSchemaBuilder,
} from '@deedwire/graphql-server';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type GraphQLField,
  type GraphQLInputField,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

type AddHalf = (builder: InterfaceSchemaBuilder, connectionOf: ConnectionOf) => void;

/** Adds what every interface has, by the date of its edition. */
const editions: Readonly<Record<string, AddHalf>> = {
  '2026-11-01': (builder, connectionOf) =>
    addWebhooks(builder, connectionOf, { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true }),
};

/**
 * The schema of an edition. A later release of this package can have more of an edition than the SDL of an application, which decides what is
 * served: what only the edition has is left out.
 *
 * @param promised has the SDL of the version
 * @param addOwn adds the half of the application, which stays whole. Null: there is none
 * @throws {ServiceError} if no edition has this date
 */
export function createHalves(edition: string, promised: GraphQLSchema, addOwn: AddHalf | null): GraphQLSchema {
  const common = createSchema(edition, null);
  const whole = addOwn === null ? common : createSchema(edition, addOwn);
  return only(whole, (part) => !isIn(common, part) || isIn(promised, part));
}

function createSchema(edition: string, addOwn: Parameters<typeof createHalves>[2]): GraphQLSchema {
  const addCommon = requireEdition(edition);
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  addOwn?.(builder, connectionOf);
  addCommon(builder, connectionOf);
  const schema = builder.toSchema();
  // npm gives its dependencies the graphql of the application if their ranges allow it.
  if (schema instanceof GraphQLSchema) return schema;
  throw new ServiceError([
    'The dependencies of @deedwire/service use another copy of graphql than itself. Set "overrides": { "@deedwire/service": { "graphql": "^17" } } in package.json, remove node_modules and package-lock.json, and install again.',
  ]);
}

/** @throws {ServiceError} */
function requireEdition(date: string): AddHalf {
  const addCommon = editions[date];
  if (addCommon !== undefined) return addCommon;
  throw new ServiceError([`No edition has the date ${date}. There are ${Object.keys(editions).join(', ')}.`]);
}

/** A type, a field or value of it, or an argument of the field. */
type Part = readonly [typeName: string, member?: string, argument?: string];

/** The parts of a schema that are kept. `serveContract` compares them with the SDL. */
function only(schema: GraphQLSchema, isKept: (part: Part) => boolean): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.TYPE]: ({ name }) => (isKept([name]) ? undefined : null),
    [MapperKind.COMPOSITE_FIELD](field, name, typeName) {
      if (!isKept([typeName, name])) return null;
      const args = Object.entries(field.args ?? {}).filter(([argument]) => isKept([typeName, name, argument]));
      return { ...field, args: Object.fromEntries(args) };
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (_, name, typeName) => (isKept([typeName, name]) ? undefined : null),
    [MapperKind.ENUM_VALUE]: (_, typeName, __, value) => (isKept([typeName, value]) ? undefined : null),
  });
}

function isIn(schema: GraphQLSchema, [typeName, member, argument]: Part): boolean {
  const type = schema.getType(typeName);
  if (type === undefined || member === undefined) return type !== undefined;
  if (isEnumType(type)) return type.getValue(member) !== undefined;
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  const field: GraphQLField<unknown, unknown> | GraphQLInputField | undefined = hasFields
    ? type.getFields()[member]
    : undefined;
  if (field === undefined || argument === undefined) return field !== undefined;
  return 'args' in field && field.args.some(({ name }) => name === argument);
}

/**
 * The SDL of an interface that has nothing but an edition.
 *
 * @throws {ServiceError} if no edition has this date
 */
export function readCommonSdl(edition: string, headerPrefix: string): string {
  requireEdition(edition);
  const text = readFileSync(new URL(`../common/${edition}.graphql`, import.meta.url), 'utf8');
  return text.replaceAll('{headerPrefix}', headerPrefix);
}

interface Manifest {
  readonly abilities: Readonly<Record<string, readonly string[]>>;
  readonly costWeights: Readonly<Record<string, number>>;
  readonly costListSizes: Readonly<Record<string, number>>;
  readonly costPageMaximums: Readonly<Record<string, number>>;
  readonly pagination: { readonly firstMaximum: number };
}

/** What an edition says of what the schema has. */
export function readManifest(edition: string, schema: GraphQLSchema): Manifest {
  const manifest: Manifest = JSON.parse(
    readFileSync(new URL(`../common/${edition}.manifest.json`, import.meta.url), 'utf8'),
  );
  const known = <Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(
      Object.entries(entries).filter(([coordinate]) => {
        const [typeName = '', member] = coordinate.split('.');
        return isIn(schema, member === undefined ? [typeName] : [typeName, member]);
      }),
    );
  return {
    ...manifest,
    abilities: known(manifest.abilities),
    costWeights: known(manifest.costWeights),
    costListSizes: known(manifest.costListSizes),
    costPageMaximums: known(manifest.costPageMaximums),
  };
}
