import SchemaBuilder, { type InputObjectRef, type ObjectRef } from '@pothos/core';
import type { BaseTypes } from './base-types.ts';
import type { OperationContext } from './operation-context.ts';
import { parseDateTime, formatLong, parseLong, parseLongLiteral } from './scalars.ts';

interface OwnTypes extends BaseTypes {
  Context: OperationContext;
}

/** The types by which Pothos checks resolvers. */
export type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<OwnTypes>;

/** An object type whose resolvers receive a `Shape`. */
export type ObjectTypeRef<Shape> = ObjectRef<SchemaTypes, Shape>;

/** An input type that resolvers receive as a `Shape`. */
export type InputTypeRef<Shape> = InputObjectRef<SchemaTypes, Shape>;

/** The builder that the type modules of both interfaces add types to. */
export type InterfaceSchemaBuilder = PothosSchemaTypes.SchemaBuilder<SchemaTypes>;

/**
 * Creates a builder with the scalars and root types of an interface, and the interface of all user errors. Pothos code has no
 * descriptions: `describeFromSdl` copies them from the contract.
 */
export function createSchemaBuilder(): InterfaceSchemaBuilder {
  const builder = new SchemaBuilder<OwnTypes>({ defaultFieldNullability: false });
  builder.queryType({});
  builder.mutationType({});
  builder.scalarType('DateTime', { serialize: (time) => time.toISOString(), parseValue: parseDateTime });
  builder.scalarType('Date', { serialize: (value) => value });
  builder.scalarType('Long', { serialize: formatLong, parseValue: parseLong, parseLiteral: parseLongLiteral });
  builder.interfaceType('UserError', {
    fields: (t) => ({
      message: t.exposeString('message'),
      field: t.exposeStringList('field', { nullable: true }),
    }),
  });
  return builder;
}

/**
 * Turns off the type check of a resolver's result, for the resolvers of generic types. The type that Pothos allows there
 * is conditional, and the compiler cannot evaluate it for a type parameter. The caller must make sure of the type itself.
 */
export function uncheckedResult(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as never;
}
