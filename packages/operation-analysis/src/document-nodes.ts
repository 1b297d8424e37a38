import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql';

/** The fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  return new Map(
    definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
}

/** The key of a field in the response. */
export function responseNameOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

/** The condition of `@skip` or `@include`. Undefined for other directives. */
export function conditionOf({ name, arguments: given = [] }: DirectiveNode): ValueNode | undefined {
  if (name.value !== 'skip' && name.value !== 'include') return undefined;
  return given.find((argument) => argument.name.value === 'if')?.value;
}

/** The names of the variables of `@skip` and `@include` in a document, each once. */
export function conditionVariablesOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      const condition = conditionOf(node);
      if (condition?.kind === Kind.VARIABLE) names.add(condition.name.value);
    },
  });
  return [...names];
}

/**
 * Visits the fields of selection sets and of the fragments in them, in order. Enters each fragment once.
 *
 * @param onField `condition` is the innermost type condition around the field. Undefined without one.
 * @param isIncluded excludes fields, and fragments with all that they contain. `condition` includes that of the fragment itself.
 */
export function visitFields(
  selectionSets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  onField: (field: FieldNode, condition: string | undefined) => void,
  isIncluded: (selection: SelectionNode, condition: string | undefined) => boolean = () => true,
): void {
  const entered = new Set<FragmentDefinitionNode | InlineFragmentNode>();

  function walk({ selections }: SelectionSetNode, condition: string | undefined): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (isIncluded(selection, condition)) onField(selection, condition);
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
      const inner = fragment?.typeCondition?.name.value ?? condition;
      if (!fragment || entered.has(fragment) || !isIncluded(selection, inner)) continue;
      entered.add(fragment);
      walk(fragment.selectionSet, inner);
    }
  }
  for (const selectionSet of selectionSets) walk(selectionSet, undefined);
}
