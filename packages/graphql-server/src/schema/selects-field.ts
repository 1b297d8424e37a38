import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Whether something below a field is selected that has this name. True also if a condition of a type excludes it. */
export function selectsField({ fieldNodes, fragments, variableValues }: GraphQLResolveInfo, name: string): boolean {
  const visited = new Set<string>();
  const isExcluded = (selection: SelectionNode): boolean =>
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] === false;
  const isIn = (set: SelectionSetNode | undefined): boolean =>
    (set?.selections ?? []).some((selection) => {
      if (isExcluded(selection)) return false;
      if (selection.kind === Kind.FIELD) return selection.name.value === name || isIn(selection.selectionSet);
      if (selection.kind === Kind.INLINE_FRAGMENT) return isIn(selection.selectionSet);
      const fragment = selection.name.value;
      if (visited.has(fragment)) return false;
      visited.add(fragment);
      return isIn(fragments[fragment]?.selectionSet);
    });
  return fieldNodes.some(({ selectionSet }) => isIn(selectionSet));
}
