import {
  isTypeDefinitionNode,
  Kind,
  parse,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  type StringValueNode,
} from 'graphql';
import type { Remark } from './history.ts';

/** Parses SDL and appends the remark of each element to its description. */
export function parseWithRemarks(sdl: string, remark: Remark): DocumentNode {
  const document = parse(sdl);
  return { ...document, definitions: document.definitions.map(remarked) };

  function remarked(definition: DefinitionNode): DefinitionNode {
    if (!isTypeDefinitionNode(definition)) return definition;
    const type = definition.name.value;
    const node = append(definition, type, null);
    if (node.kind === Kind.OBJECT_TYPE_DEFINITION)
      return { ...node, fields: node.fields?.map((field) => ofField(field, type)) };
    if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
      return { ...node, fields: node.fields?.map((field) => append(field, `${type}.${field.name.value}`, type)) };
    if (node.kind === Kind.ENUM_TYPE_DEFINITION)
      return { ...node, values: node.values?.map((value) => append(value, `${type}.${value.name.value}`, type)) };
    return node;
  }

  function ofField(field: FieldDefinitionNode, type: string): FieldDefinitionNode {
    const coordinate = `${type}.${field.name.value}`;
    const ofArgument = (argument: InputValueDefinitionNode): InputValueDefinitionNode =>
      append(argument, `${coordinate}(${argument.name.value}:)`, coordinate);
    return { ...append(field, coordinate, type), arguments: field.arguments?.map(ofArgument) };
  }

  /** An element without a description stays without one, so that the tests find it. */
  function append<Node extends { readonly description?: StringValueNode | undefined }>(
    node: Node,
    coordinate: string,
    parent: string | null,
  ): Node {
    if (node.description === undefined) return node;
    return {
      ...node,
      description: { ...node.description, value: node.description.value + remark(coordinate, parent) },
    };
  }
}
