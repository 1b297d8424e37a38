import {
  buildASTSchema,
  GraphQLError,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  parse,
  validateSchema,
  visit,
  type DirectiveDefinitionNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  type TypeDefinitionNode,
  type TypeExtensionNode,
} from 'graphql';
import { InputError, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import type {
  DirectiveDefinition,
  FieldDefinition,
  GraphqlContract,
  InputValue,
  TypeDefinition,
  TypeKind,
} from './contract.ts';

/**
 * Reads SDL. It must be a complete, valid schema, because the comparison of an invalid schema would be meaningless.
 *
 * @throws {InputError} when the schema is invalid.
 */
export function readGraphqlContract(source: SourceText): GraphqlContract {
  return withinStack(source.file, () => {
    if (source.text.trim() === '') throw new InputError(source.file, 1, 'the file is empty, expected a GraphQL schema');
    const document = readValidDocument(source);
    return collect(document);
  });
}

function readValidDocument({ file, text }: SourceText): DocumentNode {
  const document = syntactically(file, () => parse(text));
  const executable = document.definitions.find(
    ({ kind }) => kind === 'OperationDefinition' || kind === 'FragmentDefinition',
  );
  if (executable !== undefined) {
    throw new InputError(
      file,
      executable.loc?.startToken.line ?? null,
      'expected a GraphQL schema, found an operation or fragment',
    );
  }
  try {
    syntactically(file, () => {
      const [invalid] = validateSchema(buildASTSchema(document));
      if (invalid !== undefined) throw invalid;
    });
  } catch (error) {
    // For violations of the SDL rules, graphql throws one plain Error that joins their messages and has no locations.
    if (!(error instanceof Error) || error instanceof InputError || error instanceof RangeError) throw error;
    throw new InputError(file, lineOfQuotedName(document, error.message), error.message.replaceAll('\n\n', ' '), {
      cause: error,
    });
  }
  return document;
}

function syntactically<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new InputError(file, error.locations?.[0]?.line ?? null, error.message, { cause: error });
  }
}

/**
 * The line of the last occurrence of the first name that a message quotes: the second of two definitions, or the use of
 * an unknown name.
 */
function lineOfQuotedName(document: DocumentNode, message: string): number | null {
  const quoted = /"@?(\w+)(?:\.(\w+))?/.exec(message);
  const name = quoted?.[2] ?? quoted?.[1];
  let line: number | null = null;
  visit(document, {
    Name(node) {
      if (node.value === name) line = node.loc?.startToken.line ?? line;
    },
  });
  return line;
}

const kindOfNode: Readonly<Record<(TypeDefinitionNode | TypeExtensionNode)['kind'], TypeKind>> = {
  ScalarTypeDefinition: 'scalar',
  ScalarTypeExtension: 'scalar',
  ObjectTypeDefinition: 'object',
  ObjectTypeExtension: 'object',
  InterfaceTypeDefinition: 'interface',
  InterfaceTypeExtension: 'interface',
  UnionTypeDefinition: 'union',
  UnionTypeExtension: 'union',
  EnumTypeDefinition: 'enum',
  EnumTypeExtension: 'enum',
  InputObjectTypeDefinition: 'input',
  InputObjectTypeExtension: 'input',
};

function collect(document: DocumentNode): GraphqlContract {
  const types = new Map<string, TypeDefinition>();
  const directives = new Map<string, DirectiveDefinition>();
  const roots = new Map<string, string>();
  const applied: GraphqlContract['applied'][number][] = [];
  let description: string | null = null;

  for (const node of document.definitions) {
    if (node.kind === 'SchemaDefinition' || node.kind === 'SchemaExtension') {
      if (node.kind === 'SchemaDefinition') description = node.description?.value ?? null;
      applied.push(...(node.directives ?? []));
      for (const root of node.operationTypes ?? []) roots.set(root.operation, root.type.name.value);
    } else if (node.kind === 'DirectiveDefinition') {
      directives.set(node.name.value, directiveDefinition(node));
    } else if (isTypeDefinitionNode(node) || isTypeExtensionNode(node)) {
      addType(types, node);
    }
  }
  for (const node of document.definitions) {
    // graphql 17 allows directives on directive definitions, and extensions that add them.
    if (node.kind !== 'DirectiveExtension') continue;
    const directive = directives.get(node.name.value);
    if (directive !== undefined) directive.applied = [...directive.applied, ...(node.directives ?? [])];
  }
  if (!document.definitions.some(({ kind }) => kind === 'SchemaDefinition')) {
    for (const [operation, name] of [
      ['query', 'Query'],
      ['mutation', 'Mutation'],
      ['subscription', 'Subscription'],
    ] as const) {
      if (types.has(name)) roots.set(operation, name);
    }
  }
  return { description, roots, types, directives, applied };
}

function addType(types: Map<string, TypeDefinition>, node: TypeDefinitionNode | TypeExtensionNode): void {
  const name = node.name.value;
  // An extension may precede the definition that it extends.
  const type = types.get(name) ?? {
    kind: kindOfNode[node.kind],
    name,
    description: null,
    applied: [],
    fields: new Map(),
    inputFields: new Map(),
    interfaces: new Set(),
    members: new Set(),
    values: new Map(),
  };
  types.set(name, type);
  if ('description' in node && node.description !== undefined) type.description = node.description.value;
  type.applied = [...type.applied, ...(node.directives ?? [])];
  if ('interfaces' in node) for (const { name: each } of node.interfaces ?? []) type.interfaces.add(each.value);
  if ('types' in node) for (const { name: each } of node.types ?? []) type.members.add(each.value);
  if ('values' in node) for (const value of node.values ?? []) type.values.set(value.name.value, documented(value));
  if ('fields' in node) {
    for (const field of node.fields ?? []) {
      if (field.kind === 'FieldDefinition') type.fields.set(field.name.value, fieldDefinition(field));
      else type.inputFields.set(field.name.value, inputValue(field));
    }
  }
}

function documented(
  node: EnumValueDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode,
): Pick<InputValue, 'name' | 'description' | 'applied'> {
  return { name: node.name.value, description: node.description?.value ?? null, applied: node.directives ?? [] };
}

function fieldDefinition(node: FieldDefinitionNode): FieldDefinition {
  return { ...documented(node), type: node.type, args: inputValues(node.arguments) };
}

function inputValue(node: InputValueDefinitionNode): InputValue {
  return { ...documented(node), type: node.type, defaultValue: node.defaultValue ?? null };
}

function inputValues(nodes: readonly InputValueDefinitionNode[] | undefined): Map<string, InputValue> {
  return new Map((nodes ?? []).map((node) => [node.name.value, inputValue(node)]));
}

function directiveDefinition(node: DirectiveDefinitionNode): DirectiveDefinition {
  return {
    name: node.name.value,
    description: node.description?.value ?? null,
    applied: node.directives ?? [],
    args: inputValues(node.arguments),
    locations: new Set(node.locations.map(({ value }) => value)),
    repeatable: node.repeatable,
  };
}
