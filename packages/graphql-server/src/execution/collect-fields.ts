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
} from 'graphql';
import { conditionOf, fragmentsOf, responseNameOf, visitFields } from '../operation/document-nodes.ts';

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

/**
 * @param document a valid document
 * @param conditions the value of each variable of `@skip` and `@include`
 */
export function collectedOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
  conditions: ReadonlyMap<string, unknown>,
): CollectedOperation | null {
  const rootType = schema.getRootType(definition.operation);
  if (!rootType) return null;
  const fragments = fragmentsOf(document);

  function isSelected({ directives = [] }: SelectionNode): boolean {
    return directives.every((directive) => {
      const condition = conditionOf(directive);
      if (!condition) return true;
      const value =
        condition.kind === Kind.VARIABLE
          ? conditions.get(condition.name.value)
          : condition.kind === Kind.BOOLEAN && condition.value;
      return directive.name.value === 'skip' ? value !== true : value === true;
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
    fragments: Object.fromEntries(fragments),
    collect(type, parents) {
      const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
      const selectionSets =
        parents === null
          ? [definition.selectionSet]
          : parents.map(({ selectionSet }) => selectionSet).filter((selectionSet) => selectionSet !== undefined);
      visitFields(
        selectionSets,
        fragments,
        (field) => {
          const responseName = responseNameOf(field);
          const nodes = fields.get(responseName);
          if (nodes) nodes.push(field);
          else fields.set(responseName, [field]);
        },
        (selection, condition) =>
          isSelected(selection) && (selection.kind === Kind.FIELD || appliesTo(type, condition)),
      );
      return fields;
    },
  };
}
