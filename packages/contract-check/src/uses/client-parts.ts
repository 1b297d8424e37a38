import { Kind, visit, type ExecutableDefinitionNode, type FieldNode, type SelectionNode } from 'graphql';
import { localDirectives, type IsClientDirective } from './client-directives.ts';

const typename: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/**
 * The definitions without directives of clients, and without what clients answer themselves. What loses its last field selects
 * `__typename`, as Apollo Client sends it. A fragment that loses it is not sent, nor are its spreads.
 */
export function withoutClientParts(
  definitions: readonly ExecutableDefinitionNode[],
  isClient: IsClientDirective,
): ExecutableDefinitionNode[] {
  const lost = new Set<string>();
  const isLost = (node: ExecutableDefinitionNode | SelectionNode): boolean =>
    (node.kind === Kind.FRAGMENT_DEFINITION || node.kind === Kind.FRAGMENT_SPREAD) && lost.has(node.name.value);
  const isLocal = ({ directives = [] }: SelectionNode): boolean =>
    directives.some(({ name }) => localDirectives.has(name.value) && isClient(name.value));
  const clean = (definition: ExecutableDefinitionNode): ExecutableDefinitionNode =>
    visit(definition, {
      SelectionSet(node) {
        const kept = node.selections.filter((each) => !isLost(each) && !isLocal(each) && !isRecordId(each));
        if (kept.length === node.selections.length) return undefined;
        return { ...node, selections: kept.length === 0 ? [typename] : kept };
      },
      Field(node) {
        const isPopulated = node.directives?.some(({ name }) => name.value === 'populate' && isClient(name.value));
        if (isPopulated !== true || node.selectionSet !== undefined) return undefined;
        return { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: [typename] } };
      },
      Directive: ({ name }) => (isClient(name.value) ? null : undefined),
    });
  for (;;) {
    const before = lost.size;
    const cleaned = definitions.filter((each) => !isLost(each)).map((each) => ({ each, sent: clean(each) }));
    for (const { each, sent } of cleaned)
      if (sent !== each && sent.kind === Kind.FRAGMENT_DEFINITION && sent.selectionSet.selections.every(isTypename))
        lost.add(sent.name.value);
    if (lost.size === before) return cleaned.map(({ sent }) => sent);
  }
}

/** Relay and Houdini read it from their store. The specification reserves the name, so no server has it. */
function isRecordId(node: SelectionNode): boolean {
  return node.kind === Kind.FIELD && node.name.value === '__id';
}

function isTypename(node: SelectionNode): boolean {
  return node.kind === Kind.FIELD && node.name.value === '__typename';
}
