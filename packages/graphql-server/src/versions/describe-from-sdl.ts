import {
  type GraphQLArgument,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';

interface Described {
  name: string;
  description?: string | null | undefined;
}

/**
 * Copies the descriptions of the contract, and the URLs that specify its scalars, onto the schema, so that only the contract contains
 * them. Ignores elements that only one of the two has; `serveContract` compares the two.
 */
export function describeFromSdl(schema: GraphQLSchema, contract: GraphQLSchema): void {
  schema.description = contract.description;
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    const from = contract.getType(type.name);
    type.description = from?.description;

    if (isScalarType(type) && isScalarType(from)) type.specifiedByURL = from.specifiedByURL;
    else if (isEnumType(type) && isEnumType(from)) describeAll(type.getValues(), from.getValues());
    else if (isInputObjectType(type) && isInputObjectType(from)) describeAll(fieldsOf(type), fieldsOf(from));
    else if ((isObjectType(type) || isInterfaceType(type)) && (isObjectType(from) || isInterfaceType(from))) {
      describeAll(fieldsOf(type), fieldsOf(from));
      const fields = from.getFields();
      for (const field of fieldsOf(type)) describeAll(field.args, fields[field.name]?.args ?? []);
    }
  }
}

function fieldsOf<Field>(type: { getFields(): Record<string, Field> }): Field[] {
  return Object.values(type.getFields());
}

function describeAll(elements: readonly Described[] | readonly GraphQLArgument[], from: readonly Described[]): void {
  for (const element of elements) element.description = from.find(({ name }) => name === element.name)?.description;
}
