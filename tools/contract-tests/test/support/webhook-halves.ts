import {
  type ASTNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  parse,
  print,
  type TypeDefinitionNode,
  visit,
} from 'graphql';

/** The declaration of a coordinate of the SDL, and its description. */
export interface Declaration {
  readonly signature: string;
  readonly description: string;
}

/**
 * The part of an interface that must be the same in every interface: the root fields about webhooks, the root fields that
 * `otherSdl` has too, and all types that these use. By schema coordinate, for example `Query.webhookDelivery(id:)`.
 */
export function webhookHalf(sdl: string, otherSdl: string): Map<string, Declaration> {
  const types = typesOf(sdl);
  const otherRootFields = rootFields(typesOf(otherSdl));
  const declarations = new Map<string, Declaration>();
  const used = new Set<string>();
  for (const [coordinate, field] of rootFields(types)) {
    if (!/webhook/i.test(coordinate) && !otherRootFields.has(coordinate)) continue;
    declare(declarations, coordinate, field);
    addNames(used, field);
  }
  // A set iterates over the names that are added on the way.
  for (const name of used) {
    const type = types.get(name);
    if (type === undefined) continue;
    declare(declarations, name, type);
    addNames(used, type);
  }
  return declarations;
}

/** The root fields that belong to one interface only. */
export function ownRootFields(sdl: string, otherSdl: string): string[] {
  const half = webhookHalf(sdl, otherSdl);
  return [...rootFields(typesOf(sdl)).keys()].filter((coordinate) => !half.has(coordinate));
}

function typesOf(sdl: string): Map<string, TypeDefinitionNode> {
  return new Map(
    parse(sdl)
      .definitions.filter((definition) => isTypeDefinitionNode(definition))
      .map((type) => [type.name.value, type]),
  );
}

function rootFields(types: ReadonlyMap<string, TypeDefinitionNode>): Map<string, FieldDefinitionNode> {
  return new Map(
    ['Query', 'Mutation', 'Subscription'].flatMap((root) => {
      const type = types.get(root);
      const fields = type?.kind === Kind.OBJECT_TYPE_DEFINITION ? type.fields : undefined;
      return (fields ?? []).map((field) => [`${root}.${field.name.value}`, field] as const);
    }),
  );
}

type DeclaredNode = TypeDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

/** Adds a type or a member, and its own members. */
function declare(declarations: Map<string, Declaration>, coordinate: string, node: DeclaredNode): void {
  const parts: ASTNode[] = [
    ...('type' in node ? [node.type] : []),
    ...('defaultValue' in node && node.defaultValue !== undefined ? [node.defaultValue] : []),
    ...(('interfaces' in node && node.interfaces) || []),
    ...(('types' in node && node.types) || []),
    ...(node.directives ?? []),
  ];
  const signature = [node.kind, ...parts.map((part) => print(part))].join(' ');
  declarations.set(coordinate, { signature, description: node.description?.value ?? '' });
  const members = [...(('fields' in node && node.fields) || []), ...(('values' in node && node.values) || [])];
  for (const member of members) declare(declarations, `${coordinate}.${member.name.value}`, member);
  for (const argument of ('arguments' in node && node.arguments) || [])
    declare(declarations, `${coordinate}(${argument.name.value}:)`, argument);
}

function addNames(names: Set<string>, node: ASTNode): void {
  visit(node, { NamedType: ({ name }) => void names.add(name.value) });
}
