import {
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  specifiedScalarTypes,
  visit,
  type DefinitionNode,
  type DocumentNode,
} from 'graphql';

const definitionKinds = {
  ScalarTypeExtension: Kind.SCALAR_TYPE_DEFINITION,
  ObjectTypeExtension: Kind.OBJECT_TYPE_DEFINITION,
  InterfaceTypeExtension: Kind.INTERFACE_TYPE_DEFINITION,
  UnionTypeExtension: Kind.UNION_TYPE_DEFINITION,
  EnumTypeExtension: Kind.ENUM_TYPE_DEFINITION,
  InputObjectTypeExtension: Kind.INPUT_OBJECT_TYPE_DEFINITION,
} as const;

/** What a part of a schema leaves to the other parts. */
const incomplete =
  /^Query root type must be provided\.$| must define one or more | expected but \w+ does not provide it\.$| because it is implemented by /;

/** Adds to a part of a schema, to validate it, a definition of each type that it only extends or refers to. */
export function completePart(document: DocumentNode) {
  const defined = new Set(specifiedScalarTypes.map(({ name }) => name));
  for (const node of document.definitions) if (isTypeDefinitionNode(node)) defined.add(node.name.value);
  const extended = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isTypeExtensionNode(node) || defined.has(node.name.value)) return [];
    defined.add(node.name.value);
    return [{ kind: definitionKinds[node.kind], name: node.name }];
  });
  const elsewhere = new Set<string>();
  visit(document, {
    NamedType({ name }) {
      if (!defined.has(name.value)) elsewhere.add(name.value);
    },
  });
  const scalars = [...elsewhere].map((value): DefinitionNode => ({
    kind: Kind.SCALAR_TYPE_DEFINITION,
    name: { kind: Kind.NAME, value },
  }));
  return {
    document: { ...document, definitions: [...document.definitions, ...extended, ...scalars] },
    /** Whether a problem of the completed schema is that it is a part. */
    isIncomplete(problem: string): boolean {
      const [, name] =
        /(?:only include Object types, it cannot include|cannot implement) (?:type )?(\w+)\.$/.exec(problem) ?? [];
      return incomplete.test(problem) || (name !== undefined && elsewhere.has(name));
    },
  };
}
