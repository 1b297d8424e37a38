import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** An operation, and which of its fields are selected once the variables of `@skip` and `@include` are known. */
export interface CollectedOperation {
  schema: GraphQLSchema;
  definition: OperationDefinitionNode;
  rootType: GraphQLObjectType;
  fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /**
   * The selected fields of an object type by response name, in order.
   *
   * @param parents the fields that have this type. Null for the root type.
   */
  collect(
    type: GraphQLObjectType,
    parents: readonly FieldNode[] | null,
  ): ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>;
}

/** The names of the variables of `@skip` and `@include` in a document, each once. */
export function conditionVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      for (const { arguments: given = [] } of selection.directives ?? []) {
        for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      }
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet) visit(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION)
      visit(definition.selectionSet);
  }
  return [...names];
}

/**
 * @param document a valid document
 * @param conditions the value of each variable of `@skip` and `@include`
 */
export function collectedOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
  conditions: ReadonlyMap<string, boolean>,
): CollectedOperation | null {
  const rootType = schema.getRootType(definition.operation);
  if (!rootType) return null;
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments[each.name.value] = each;
  }

  function isSelected({ directives = [] }: SelectionNode): boolean {
    return directives.every(({ name, arguments: [argument] = [] }) => {
      if (name.value !== 'skip' && name.value !== 'include') return true;
      const value = argument?.value;
      const condition =
        value?.kind === Kind.VARIABLE ? conditions.get(value.name.value) : value?.kind === Kind.BOOLEAN && value.value;
      return name.value === 'skip' ? condition !== true : condition === true;
    });
  }

  function appliesTo(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = schema.getType(condition);
    return isAbstractType(named) && schema.isSubType(named, type);
  }

  return {
    schema,
    definition,
    rootType,
    fragments,
    collect(type, parents) {
      const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
      const spread = new Set<string>();
      const add = ({ selections }: SelectionSetNode): void => {
        for (const selection of selections) {
          if (!isSelected(selection)) continue;
          if (selection.kind === Kind.FIELD) {
            const responseName = (selection.alias ?? selection.name).value;
            const nodes = fields.get(responseName);
            if (nodes) nodes.push(selection);
            else fields.set(responseName, [selection]);
          } else if (selection.kind === Kind.INLINE_FRAGMENT) {
            if (appliesTo(type, selection.typeCondition?.name.value)) add(selection.selectionSet);
          } else {
            const name = selection.name.value;
            const fragment = fragments[name];
            if (!fragment || spread.has(name) || !appliesTo(type, fragment.typeCondition.name.value)) continue;
            spread.add(name);
            add(fragment.selectionSet);
          }
        }
      };
      if (parents === null) add(definition.selectionSet);
      else for (const { selectionSet } of parents) if (selectionSet) add(selectionSet);
      return fields;
    },
  };
}
