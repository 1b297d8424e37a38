import {
  TypeInfo,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type GraphQLType,
} from 'graphql';

/**
 * The elements of a schema that a valid document needs, with their types: fields, arguments, input fields, enum values that it
 * contains, types of fragments and variables, and directives. Null for those without a type. The value of a variable is unknown, so
 * every input field and enum value of its type is needed. Without what every server has (introspection, `@skip`), and without enum
 * values that the server returns, because clients must accept others.
 */
export function coordinatesOf(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  const info = new TypeInfo(schema);

  function addInputType(input: GraphQLInputType): void {
    const type = getNamedType(input);
    if (isSpecifiedScalarType(type) || found.has(type.name)) return;
    found.set(type.name, null);
    if (isEnumType(type)) for (const { name } of type.getValues()) found.set(`${type.name}.${name}`, null);
    if (!isInputObjectType(type)) return;
    for (const field of Object.values(type.getFields())) {
      found.set(`${type.name}.${field.name}`, String(field.type));
      addInputType(field.type);
    }
  }

  /** The coordinate of the field that is visited. Null for introspection. */
  function fieldCoordinate(): string | null {
    const [parent, field] = [info.getParentType()?.name ?? '__', info.getFieldDef()?.name ?? '__'];
    return parent.startsWith('__') || field.startsWith('__') ? null : `${parent}.${field}`;
  }

  /** The coordinate of the directive that is visited. Null for one of the specification, undefined outside of directives. */
  function directiveCoordinate(): string | null | undefined {
    const directive = info.getDirective();
    return directive ? (isSpecifiedDirective(directive) ? null : `@${directive.name}`) : undefined;
  }

  const add = (coordinate: string | null | undefined, type?: GraphQLType | null): void => {
    if (typeof coordinate === 'string') found.set(coordinate, type ? String(type) : null);
  };
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: () => add(fieldCoordinate(), info.getFieldDef()?.type),
      Directive: () => add(directiveCoordinate()),
      Argument({ name }) {
        const directive = directiveCoordinate();
        const owner = directive === undefined ? fieldCoordinate() : directive;
        if (owner !== null) add(`${owner}(${name.value}:)`, info.getArgument()?.type);
      },
      ObjectField({ name }) {
        const type = getNamedType(info.getParentInputType());
        if (isInputObjectType(type)) add(`${type.name}.${name.value}`, type.getFields()[name.value]?.type);
      },
      EnumValue({ value }) {
        const type = getNamedType(info.getInputType());
        if (isEnumType(type)) add(`${type.name}.${value}`);
      },
      VariableDefinition() {
        const type = info.getInputType();
        if (type) addInputType(type);
      },
      FragmentDefinition: ({ typeCondition }) => add(typeCondition.name.value),
      InlineFragment: ({ typeCondition }) => add(typeCondition?.name.value),
    }),
  );
  return found;
}
