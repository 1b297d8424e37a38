import {
  buildSchema,
  getNamedType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  print,
} from 'graphql';

/** The declaration of a coordinate of the SDL, and its description. */
export interface Declaration {
  readonly signature: string;
  readonly description: string;
}

/**
 * The part of an interface that must be the same in every interface: the root fields about webhooks, the root fields that
 * `otherSdl` has too, and all types that these use. By schema coordinate, for example `Query.webhookDelivery(id:)`.
 */
export function webhookHalf(sdl: string, otherSdl: string): Map<string, Declaration> {
  const schema = buildSchema(sdl);
  const otherRootFields = new Set(rootFields(buildSchema(otherSdl)).map(({ coordinate }) => coordinate));
  const declarations = new Map<string, Declaration>();
  const types = new Set<GraphQLNamedType>();
  for (const { coordinate, field } of rootFields(schema)) {
    if (!/webhook/i.test(coordinate) && !otherRootFields.has(coordinate)) continue;
    for (const type of declareField(declarations, coordinate, field)) types.add(type);
  }
  // A set iterates over the types that are added on the way.
  for (const type of types) for (const used of declareType(declarations, type)) types.add(used);
  return declarations;
}

/** The root fields that belong to one interface only. */
export function ownRootFields(sdl: string, otherSdl: string): string[] {
  const half = webhookHalf(sdl, otherSdl);
  return rootFields(buildSchema(sdl))
    .map(({ coordinate }) => coordinate)
    .filter((coordinate) => !half.has(coordinate));
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string];

function rootFields(schema: GraphQLSchema): { coordinate: string; field: Field }[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map((field) => ({ coordinate: `${root?.name}.${field.name}`, field })),
  );
}

/** Adds a type with its members, and returns the types that it uses. */
function declareType(declarations: Map<string, Declaration>, type: GraphQLNamedType): GraphQLNamedType[] {
  if (isIntrospectionType(type) || isSpecifiedScalarType(type)) return [];
  const { description } = type;
  const declare = (kind: string, members: readonly GraphQLNamedType[] = []): void => {
    const names = members.map(({ name }) => name).toSorted();
    declarations.set(type.name, { signature: [kind, ...names].join(' '), description: description ?? '' });
  };
  if (isObjectType(type) || isInterfaceType(type)) {
    const interfaces = type.getInterfaces();
    declare(isObjectType(type) ? 'type' : 'interface', interfaces);
    const fields = Object.values(type.getFields());
    return [
      ...interfaces,
      ...fields.flatMap((field) => declareField(declarations, `${type.name}.${field.name}`, field)),
    ];
  }
  if (isInputObjectType(type)) {
    declare(type.isOneOf ? 'input @oneOf' : 'input');
    return Object.values(type.getFields()).map((field) => {
      declareInput(declarations, `${type.name}.${field.name}`, field);
      return getNamedType(field.type);
    });
  }
  if (isEnumType(type)) {
    declare('enum');
    for (const value of type.getValues()) {
      const signature = deprecation(value.deprecationReason);
      declarations.set(`${type.name}.${value.name}`, { signature, description: value.description ?? '' });
    }
    return [];
  }
  if (isUnionType(type)) {
    declare('union', type.getTypes());
    return [...type.getTypes()];
  }
  declare(`scalar ${type.specifiedByURL ?? ''}`);
  return [];
}

function declareField(declarations: Map<string, Declaration>, coordinate: string, field: Field): GraphQLNamedType[] {
  declarations.set(coordinate, {
    signature: `${String(field.type)}${deprecation(field.deprecationReason)}`,
    description: field.description ?? '',
  });
  for (const argument of field.args) declareInput(declarations, `${coordinate}(${argument.name}:)`, argument);
  return [getNamedType(field.type), ...field.args.map(({ type }) => getNamedType(type))];
}

function declareInput(
  declarations: Map<string, Declaration>,
  coordinate: string,
  input: GraphQLArgument | GraphQLInputField,
): void {
  const initial = input.astNode?.defaultValue === undefined ? '' : ` = ${print(input.astNode.defaultValue)}`;
  declarations.set(coordinate, {
    signature: `${String(input.type)}${initial}${deprecation(input.deprecationReason)}`,
    description: input.description ?? '',
  });
}

function deprecation(reason: string | null | undefined): string {
  return reason === null || reason === undefined ? '' : ` @deprecated(${JSON.stringify(reason)})`;
}
