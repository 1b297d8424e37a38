import {
  Kind,
  TypeInfo,
  getNamedType,
  isObjectType,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionNode,
} from 'graphql';
import type { IsClientDirective } from './client-directives.ts';

/**
 * Replaces spreads of the fragments that Houdini generates by what they select. Each field with `@list(name:)` or
 * `@paginate(name:)` has some: `NAME_remove` selects the id, and the others what the list does. The elements of a connection are
 * its nodes.
 */
export function listFragmentReplacer(
  documents: readonly DocumentNode[],
  schema: GraphQLSchema,
  isClient: IsClientDirective,
): (document: DocumentNode) => DocumentNode {
  const found = new Map<string, InlineFragmentNode>();
  const info = new TypeInfo(schema);
  const add = (field: FieldNode): void => {
    for (const name of listNames(field, isClient)) {
      const { type, selections } = elementOf(field, getNamedType(info.getType()));
      if (type === undefined) continue;
      const key = isObjectType(type) && Object.hasOwn(type.getFields(), 'id') ? 'id' : '__typename';
      found.set(`${name}_remove`, fragmentOn(type, [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: key } }]));
      for (const suffix of ['insert', 'toggle', 'upsert', 'update'])
        found.set(`${name}_${suffix}`, fragmentOn(type, selections));
    }
  };
  for (const document of documents) visit(document, visitWithTypeInfo(info, { Field: add }));
  for (const { definitions } of documents)
    for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) found.delete(each.name.value);
  return (document) =>
    visit(document, {
      FragmentSpread: {
        // On leaving, so that what replaces it is not visited.
        leave({ name, directives = [] }) {
          const list = found.get(name.value);
          return list && { ...list, directives };
        },
      },
    });
}

function listNames({ directives = [] }: FieldNode, isClient: IsClientDirective): string[] {
  return directives
    .filter(({ name: { value } }) => (value === 'list' || value === 'paginate') && isClient(value))
    .flatMap((directive) => directive.arguments ?? [])
    .flatMap(({ name, value }) => (name.value === 'name' && value.kind === Kind.STRING ? [value.value] : []));
}

/** The element of a list with its type. Undefined if the schema lacks the field. */
function elementOf(list: FieldNode, listType: GraphQLNamedType | undefined) {
  let [field, type] = [list, listType];
  for (const step of ['edges', 'node']) {
    const inner = selectionsOf(field).find((each) => each.kind === Kind.FIELD && each.name.value === step);
    if (inner?.kind !== Kind.FIELD || !isObjectType(type)) return { type: listType, selections: selectionsOf(list) };
    [field, type] = [inner, getNamedType(type.getFields()[step]?.type)];
  }
  return { type, selections: selectionsOf(field) };
}

function selectionsOf(field: FieldNode): readonly SelectionNode[] {
  return field.selectionSet?.selections ?? [];
}

function fragmentOn(type: GraphQLNamedType, selections: readonly SelectionNode[]): InlineFragmentNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } },
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
}
