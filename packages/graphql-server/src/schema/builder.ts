import SchemaBuilder, { type InputObjectRef, type ObjectRef } from '@pothos/core';
import type { OperationContext } from './operation-context.ts';

interface OwnTypes {
  Context: OperationContext;
  DefaultFieldNullability: false;
  Scalars: {
    DateTime: { Input: never; Output: Date };
    /** `YYYY-MM-DD`. */
    Date: { Input: never; Output: string };
    ID: { Input: string; Output: string };
  };
}

/** What Pothos must know about our schemas to check resolvers. */
export type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<OwnTypes>;

/** An object type whose resolvers get a `Shape`. */
export type ObjectTypeRef<Shape> = ObjectRef<SchemaTypes, Shape>;

/** An input type that resolvers get as a `Shape`. */
export type InputTypeRef<Shape> = InputObjectRef<SchemaTypes, Shape>;

/** What the type modules of both interfaces add to. */
export type InterfaceSchemaBuilder = PothosSchemaTypes.SchemaBuilder<SchemaTypes>;

/**
 * A builder with the scalars and root types of an interface. Pothos code carries no descriptions: they come from the
 * contract, see `describeFromSdl`.
 */
export function createSchemaBuilder(): InterfaceSchemaBuilder {
  const builder = new SchemaBuilder<OwnTypes>({ defaultFieldNullability: false });
  builder.queryType({});
  builder.mutationType({});
  builder.scalarType('DateTime', { serialize: (value) => value.toISOString() });
  builder.scalarType('Date', { serialize: (value) => value });
  return builder;
}
