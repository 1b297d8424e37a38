import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type ValueNode,
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
