import {
  type DocumentNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

interface Element {
  readonly name: string;
  readonly deprecationReason?: string | null | undefined;
}

/** Element → coordinate, for example `Query.customer` or `Query.orders(first:)`, without those of introspection. */
function elementsOf(schema: GraphQLSchema): ReadonlyMap<Element, string> {
  const elements = new Map<Element, string>();
  for (const type of Object.values(schema.getTypeMap())) {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    for (const part of type.name.startsWith('__') ? [] : isEnumType(type) ? type.getValues() : fields) {
      const coordinate = `${type.name}.${part.name}`;
      elements.set(part, coordinate);
      for (const argument of 'args' in part ? part.args : [])
        elements.set(argument, `${coordinate}(${argument.name}:)`);
    }
  }
  return elements;
}

const isDeprecated = ({ deprecationReason }: Element): boolean => typeof deprecationReason === 'string';

export function deprecatedIn(schema: GraphQLSchema): string[] {
  return [...elementsOf(schema)].flatMap(([element, coordinate]) => (isDeprecated(element) ? [coordinate] : []));
}

/**
 * Finds the deprecated coordinates that a document uses, once for each cached document. In a preview also those that
 * the last released version lacks. It does not know values: a document uses all values of an enum that it reads, and all fields of
 * the types of its variables.
 *
 * @param released of a preview: the last released version. Null for other versions, and if there is none
 */
export function createUsedCoordinates(schema: GraphQLSchema, released: GraphQLSchema | null) {
  const before = released && new Set(elementsOf(released).values());
  const counted = new Map(
    [...elementsOf(schema)].filter(
      ([element, coordinate]) => isDeprecated(element) || before?.has(coordinate) === false,
    ),
  );
  const known = new WeakMap<DocumentNode, readonly string[]>();

  function find(document: DocumentNode): readonly string[] {
    const used = new Set<string>();
    function use(element: Element | null | undefined): void {
      const coordinate = element ? counted.get(element) : undefined;
      if (coordinate !== undefined) used.add(coordinate);
    }
    const seen = new Set<GraphQLNamedType>();
    function useType(type: GraphQLNamedType | undefined): void {
      if (type === undefined || seen.has(type)) return;
      seen.add(type);
      if (isEnumType(type)) type.getValues().forEach(use);
      if (!isInputObjectType(type)) return;
      for (const field of Object.values(type.getFields())) {
        use(field);
        useType(getNamedType(field.type));
      }
    }
    const types = new TypeInfo(schema);
    visit(
      document,
      visitWithTypeInfo(types, {
        Field({ name: { value: name } }) {
          use(types.getFieldDef());
          const parent = types.getParentType();
          if (isAbstractType(parent)) for (const type of schema.getPossibleTypes(parent)) use(type.getFields()[name]);
          const type = getNamedType(types.getType());
          if (isEnumType(type)) useType(type);
        },
        Argument: () => use(types.getArgument()),
        ObjectField({ name }) {
          const type = getNamedType(types.getParentInputType());
          if (isInputObjectType(type)) use(type.getFields()[name.value]);
        },
        EnumValue: () => use(types.getEnumValue()),
        VariableDefinition: () => useType(getNamedType(types.getInputType() ?? undefined)),
      }),
    );
    return [...used].toSorted();
  }

  return (document: DocumentNode): readonly string[] => {
    if (counted.size === 0) return [];
    const coordinates = known.get(document) ?? find(document);
    known.set(document, coordinates);
    return coordinates;
  };
}

export type UsedCoordinates = ReturnType<typeof createUsedCoordinates>;
