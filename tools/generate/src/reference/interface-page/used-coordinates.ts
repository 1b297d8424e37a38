import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

/**
 * The coordinates of a schema that a document depends on: the types and fields that it selects, all values of the enums that it
 * selects, the arguments that it passes, and everything in the input types of these arguments.
 */
export function usedCoordinates(schema: GraphQLSchema, document: string): Set<string> {
  const used = new Set<string>();
  const info = new TypeInfo(schema);
  visit(
    parse(document),
    visitWithTypeInfo(info, {
      Field(): void {
        const field = info.getFieldDef();
        const parent = info.getParentType();
        if (!field || !parent) return;
        used.add(parent.name).add(`${parent.name}.${field.name}`);
        addType(getNamedType(field.type), used);
      },
      Argument(): void {
        const argument = info.getArgument();
        const field = info.getFieldDef();
        const parent = info.getParentType();
        if (!argument || !field || !parent) return;
        used.add(`${parent.name}.${field.name}(${argument.name}:)`);
        addType(getNamedType(argument.type), used);
      },
    }),
  );
  return used;
}

function addType(type: GraphQLNamedType, used: Set<string>): void {
  if (used.has(type.name) && !isEnumType(type)) return;
  used.add(type.name);
  if (isEnumType(type)) for (const { name } of type.getValues()) used.add(`${type.name}.${name}`);
  if (!isInputObjectType(type)) return;
  for (const field of Object.values(type.getFields())) {
    used.add(`${type.name}.${field.name}`);
    addType(getNamedType(field.type), used);
  }
}
