import {
  type DocumentNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** By coordinate, for example `Query.partner` or `Query.referrals(first:)`, without those of introspection. */
function elementsOf(schema: GraphQLSchema) {
  const elements = new Map<string, { readonly deprecationReason?: string | null | undefined }>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isEnumType(type)) for (const value of type.getValues()) elements.set(`${type.name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      elements.set(`${type.name}.${field.name}`, field);
      if ('args' in field)
        for (const argument of field.args) elements.set(`${type.name}.${field.name}(${argument.name}:)`, argument);
    }
  }
  return elements;
}

export function deprecatedIn(schema: GraphQLSchema): string[] {
  return [...elementsOf(schema)].flatMap(([coordinate, { deprecationReason }]) =>
    typeof deprecationReason === 'string' ? [coordinate] : [],
  );
}

/**
 * Finds the deprecated coordinates that an operation uses, once for each operation of a cached document. In a preview also those that
 * the last released version lacks. It does not know values: an operation uses all values of an enum that it reads, and all fields of
 * the types of its variables.
 *
 * @param released of a preview: the last released version. Null for other versions, and if there is none
 */
export function createUsedCoordinates(schema: GraphQLSchema, released: GraphQLSchema | null) {
  const before = released && elementsOf(released);
  const added = before ? [...elementsOf(schema).keys()].filter((coordinate) => !before.has(coordinate)) : [];
  const counted = new Set([...deprecatedIn(schema), ...added]);
  const known = new WeakMap<OperationDefinitionNode, readonly string[]>();

  function find(document: DocumentNode): readonly string[] {
    const used = new Set<string>();
    const use = (coordinate: string): void => {
      if (counted.has(coordinate)) used.add(coordinate);
    };
    const types = new TypeInfo(schema);
    const seen = new Set<GraphQLNamedType>();
    function useType(type: GraphQLNamedType | undefined): void {
      if (type === undefined || seen.has(type)) return;
      seen.add(type);
      if (isEnumType(type)) for (const { name } of type.getValues()) use(`${type.name}.${name}`);
      if (!isInputObjectType(type)) return;
      for (const field of Object.values(type.getFields())) {
        use(`${type.name}.${field.name}`);
        useType(getNamedType(field.type));
      }
    }
    visit(
      document,
      visitWithTypeInfo(types, {
        Field({ name: { value: name } }) {
          const parent = types.getParentType();
          if (!parent) return;
          use(`${parent.name}.${name}`);
          if (isAbstractType(parent)) for (const type of schema.getPossibleTypes(parent)) use(`${type.name}.${name}`);
          const type = getNamedType(types.getType());
          if (isEnumType(type)) useType(type);
        },
        Argument({ name }) {
          const field = types.getFieldDef()?.name;
          if (field !== undefined && !types.getDirective())
            use(`${types.getParentType()?.name}.${field}(${name.value}:)`);
        },
        ObjectField({ name }) {
          const type = getNamedType(types.getParentInputType());
          if (type) use(`${type.name}.${name.value}`);
        },
        EnumValue({ value }) {
          const type = getNamedType(types.getInputType());
          if (type) use(`${type.name}.${value}`);
        },
        VariableDefinition() {
          useType(getNamedType(types.getInputType() ?? undefined));
        },
      }),
    );
    return [...used].toSorted();
  }

  /** Of the whole document, of which an operation is a part. */
  return (document: DocumentNode, operation: OperationDefinitionNode): readonly string[] => {
    if (counted.size === 0) return [];
    let coordinates = known.get(operation);
    if (coordinates === undefined) {
      coordinates = find(document);
      known.set(operation, coordinates);
    }
    return coordinates;
  };
}

export type UsedCoordinates = ReturnType<typeof createUsedCoordinates>;
