import {
  type ASTNode,
  type DirectiveDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  type TypeDefinitionNode,
  visit,
} from 'graphql';

/** An element of SDL that has a coordinate. */
type Element =
  | DirectiveDefinitionNode
  | TypeDefinitionNode
  | FieldDefinitionNode
  | EnumValueDefinitionNode
  | InputValueDefinitionNode;

/**
 * Calls a function with each element of SDL, and replaces the element by what it returns. An element comes before those inside it.
 *
 * @param map `parent` is the coordinate of the element around it, null if there is none
 */
export function mapElements<Root extends ASTNode>(
  root: Root,
  map: (element: Element, coordinate: string, parent: string | null) => ASTNode | undefined,
): Root {
  return visit(root, {
    enter(node, _key, _parent, _path, ancestors) {
      const around = ancestors.flatMap((ancestor) =>
        'kind' in ancestor && 'name' in ancestor && ancestor.name ? [ancestor.name.value] : [],
      );
      const [type, field] = around;
      const isInner =
        node.kind === Kind.FIELD_DEFINITION ||
        node.kind === Kind.ENUM_VALUE_DEFINITION ||
        node.kind === Kind.INPUT_VALUE_DEFINITION;
      if (node.kind === Kind.DIRECTIVE_DEFINITION) {
        map(node, `@${node.name.value}`, null);
        return false;
      }
      if (isTypeDefinitionNode(node)) return map(node, node.name.value, null);
      if (!isInner || type === undefined) return undefined;
      const parent = field === undefined ? type : `${type}.${field}`;
      const coordinate = field === undefined ? `${type}.${node.name.value}` : `${parent}(${node.name.value}:)`;
      return map(node, coordinate, parent);
    },
  });
}
