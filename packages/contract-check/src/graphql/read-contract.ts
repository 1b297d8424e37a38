import {
  DirectiveLocation,
  GraphQLError,
  Kind,
  Source,
  buildASTSchema,
  concatAST,
  isExecutableDefinitionNode,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  parse,
  specifiedDirectives,
  validateSchema,
  visit,
  type DirectiveDefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  type NamedTypeNode,
  type TypeDefinitionNode,
  type TypeExtensionNode,
} from 'graphql';
import { invalidBefore, type Location, type Notice } from '../change.ts';
import { InputError, errorMessage, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { byName, type GraphqlContract, type TypeDefinition, type TypeKind } from './contract.ts';
import { introspectedDocument, isIntrospection, withoutAppliedDirectives } from './introspection.ts';
import { graphqlLocator, locationOfNode } from './locator.ts';
import { completePart } from './partial.ts';

export interface ReadOptions {
  /** Whether the schema is a part of a larger one, such as a subgraph. */
  readonly partial: boolean;
  /** Whether to leave out the applied directives that introspection does not show. */
  readonly withoutDirectives: boolean;
  /** Whether the schema is that of a former version, which can be invalid if it can be parsed. Defaults to false. */
  readonly isOld?: boolean;
}

/** Reads a schema from SDL files or an introspection result. It must be valid and, unless it is partial, complete. */
export function readGraphqlContract(
  sources: readonly SourceText[],
  { partial, withoutDirectives, isOld = false }: ReadOptions = { partial: false, withoutDirectives: false },
): GraphqlContract {
  const file = sources[0]?.file ?? '';
  return withinStack(file, () => {
    const read = concatAST(sources.map(readDocument));
    const document = withoutDirectives ? withoutAppliedDirectives(read) : read;
    return collect(file, document, [...validate(file, document, partial, isOld), ...noticesOf(document)]);
  });
}

/** Reads a complete schema as `readGraphqlContract` does, in the form that validates operations. */
export function readGraphqlSchema(sources: readonly SourceText[]): GraphQLSchema {
  readGraphqlContract(sources);
  const document = concatAST(sources.map(readDocument));
  return buildASTSchema(withUndefinedDirectives(document), { assumeValid: true });
}

function readDocument(source: SourceText): DocumentNode {
  const { file, text } = source;
  if (text.trim() === '') throw new InputError(file, 1, 'the file is empty, expected a GraphQL schema');
  if (isIntrospection(source)) return introspectedDocument(source);
  const document = syntactically(file, () => parse(new Source(text, file)));
  const executable = document.definitions.find(isExecutableDefinitionNode);
  if (executable !== undefined) {
    const { line } = locationOfNode(executable) ?? { line: null };
    throw new InputError(file, line, 'expected a GraphQL schema, found an operation or fragment');
  }
  return document;
}

/** Inconsistent deprecations do not change which operations are valid. graphql 17 rejects some that other servers publish. */
const harmless = /(?:must not|cannot) be deprecated\.$/;

/** Returns what is inconsistent but harmless. */
function validate(file: string, document: DocumentNode, partial: boolean, isOld: boolean): Notice[] {
  const notices: Notice[] = [];
  const completed = partial ? completePart(document) : { document, isIncomplete: () => false };
  try {
    syntactically(file, () => {
      for (const problem of validateSchema(buildASTSchema(withUndefinedDirectives(completed.document)))) {
        if (completed.isIncomplete(problem.message)) continue;
        const location = locationOfError(file, problem);
        if (harmless.test(problem.message)) notices.push({ location, message: problem.message });
        else if (isOld) notices.push(invalidBefore(location, problem.message));
        else throw problem;
      }
    });
  } catch (error) {
    // For violations of the SDL rules, graphql throws one plain Error that joins their messages and has no locations.
    if (error instanceof InputError || error instanceof RangeError) throw error;
    const message = errorMessage(error);
    const at = placeOfQuotedName(document, message) ?? { file, line: null };
    const problem = withHint(message.replaceAll('\n\n', ' '));
    if (!isOld) throw new InputError(at.file, at.line, problem, { cause: error });
    notices.push(invalidBefore(at, problem));
  }
  return notices;
}

/** The directives that the schema does not define, by name: the first application, and the names of the arguments of all. */
function undefinedDirectives(document: DocumentNode) {
  const defined = new Set(specifiedDirectives.map(({ name }) => name));
  for (const node of document.definitions) if (node.kind === 'DirectiveDefinition') defined.add(node.name.value);
  const found = new Map<string, { node: DirectiveNode; args: Set<string> }>();
  visit(document, {
    Directive(node) {
      const name = node.name.value;
      if (defined.has(name)) return;
      const directive = found.get(name) ?? { node, args: new Set<string>() };
      for (const argument of node.arguments ?? []) directive.args.add(argument.name.value);
      found.set(name, directive);
    },
  });
  return found;
}

/** Adds a permissive definition of each undefined directive, because a framework may define it. */
function withUndefinedDirectives(document: DocumentNode): DocumentNode {
  const missing = undefinedDirectives(document);
  if (missing.size === 0) return document;
  const anyValue = { kind: Kind.NAME, value: 'ContractCheckAnyValue' } as const;
  const definitions = Array.from(missing, ([name, { args }]): DirectiveDefinitionNode => ({
    kind: Kind.DIRECTIVE_DEFINITION,
    name: { kind: Kind.NAME, value: name },
    repeatable: true,
    locations: Object.values(DirectiveLocation).map((value) => ({ kind: Kind.NAME, value })),
    arguments: [...args].map((argument) => ({
      kind: Kind.INPUT_VALUE_DEFINITION,
      name: { kind: Kind.NAME, value: argument },
      type: { kind: Kind.NAMED_TYPE, name: anyValue },
    })),
  }));
  const scalar = { kind: Kind.SCALAR_TYPE_DEFINITION, name: anyValue } as const;
  return { ...document, definitions: [...document.definitions, scalar, ...definitions] };
}

function noticesOf(document: DocumentNode): Notice[] {
  return Array.from(undefinedDirectives(document), ([name, { node }]) => ({
    location: locationOfNode(node) ?? { file: '', line: null },
    message: `The schema does not define the directive @${name}. Only its applications are compared.`,
  }));
}

function syntactically<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const at = locationOfError(file, error);
    const before = error.source?.body.slice(0, error.positions?.[0]);
    throw new InputError(at.file, at.line, withHint(error.message, before), { cause: error });
  }
}

/** What to do about problems of schemas that some servers and tools accept: message, text before it, hint. */
const hints: readonly (readonly [message: RegExp, before: RegExp, hint: string])[] = [
  [/Unexpected Name/, /\bimplements\b[^{@]*$/, 'Separate interfaces by &: implements A & B.'],
  [/Expected Name, found "}"/, /\{\s*$/, 'A type without fields has no braces.'],
  [
    /Unknown type |Cannot extend type /,
    /(?:)/,
    'Define it in one of the files, or pass --partial ("partial": true) if the server adds it, or another part of the schema has it.',
  ],
];

function withHint(message: string, before = ''): string {
  const [, , hint] = hints.find((each) => each[0].test(message) && each[1].test(before)) ?? [];
  return hint === undefined ? message : `${message} ${hint}`;
}

function locationOfError(file: string, { source, locations }: GraphQLError): Location {
  return { file: source?.name ?? file, line: locations?.[0]?.line ?? null };
}

/** Where the first name that a message quotes occurs last: the second definition, or the use of an unknown name. */
function placeOfQuotedName(document: DocumentNode, message: string): Location | null {
  const quoted = /"@?(\w+)(?:\.(\w+))?/.exec(message);
  const name = quoted?.[2] ?? quoted?.[1];
  let place: Location | null = null;
  visit(document, {
    Name(node) {
      if (node.value === name) place = locationOfNode(node) ?? place;
    },
  });
  return place;
}

/** The kind of a definition or an extension by the part of its kind before `Type`. */
const kinds: ReadonlyMap<string, TypeKind> = new Map([
  ['Scalar', 'scalar'],
  ['Object', 'object type'],
  ['Interface', 'interface'],
  ['Union', 'union'],
  ['Enum', 'enum'],
  ['InputObject', 'input object'],
]);

function collect(file: string, document: DocumentNode, notices: readonly Notice[]): GraphqlContract {
  const { definitions } = document;
  const schema = definitions.filter((node) => node.kind === 'SchemaDefinition' || node.kind === 'SchemaExtension');
  const definition = schema.findLast((node) => node.kind === 'SchemaDefinition');
  const types = Map.groupBy(
    definitions.filter((node) => isTypeDefinitionNode(node) || isTypeExtensionNode(node)),
    ({ name }) => name.value,
  );
  const named = ['Query', 'Mutation', 'Subscription'].filter((name) => types.has(name));
  const roots = schema.flatMap(({ operationTypes = [] }) => operationTypes);
  // graphql 17 allows directives on directive definitions, and extensions that add them.
  const extensions = definitions.filter((node) => node.kind === 'DirectiveExtension');
  const directiveDefinitions = definitions
    .filter((node) => node.kind === 'DirectiveDefinition')
    .map((node) => {
      const all = [node, ...extensions.filter(({ name }) => name.value === node.name.value)];
      return { ...node, directives: all.flatMap(({ directives = [] }) => directives) };
    });
  return {
    description: definition?.description,
    directives: schema.flatMap(({ directives = [] }) => directives),
    roots: new Map([
      ...roots.map(({ operation, type }) => [operation, type.name.value] as const),
      ...(definition === undefined ? named.map((name) => [name.toLowerCase(), name] as const) : []),
    ]),
    types: new Map([...types].map(([name, nodes]) => [name, typeDefinition(name, nodes)])),
    directiveDefinitions: byName(directiveDefinitions),
    locator: graphqlLocator(file, document),
    notices,
  };
}

/** @param nodes the definition of a type and its extensions, in any order */
function typeDefinition(name: string, nodes: readonly (TypeDefinitionNode | TypeExtensionNode)[]): TypeDefinition {
  const fields = nodes.flatMap((node) => ('fields' in node ? [...(node.fields ?? [])] : []));
  return {
    kind: kinds.get(nodes[0]?.kind.replace(/Type\w+$/, '') ?? '') ?? 'object type',
    name,
    description: nodes.map((node) => ('description' in node ? node.description : undefined)).findLast(Boolean),
    directives: nodes.flatMap(({ directives = [] }) => directives),
    fields: byName(fields.filter((field) => field.kind === 'FieldDefinition')),
    inputFields: byName(fields.filter((field) => field.kind === 'InputValueDefinition')),
    interfaces: new Set(nodes.flatMap((node) => ('interfaces' in node ? namesOf(node.interfaces) : []))),
    members: new Set(nodes.flatMap((node) => ('types' in node ? namesOf(node.types) : []))),
    values: byName(nodes.flatMap((node) => ('values' in node ? (node.values ?? []) : []))),
  };
}

function namesOf(types: readonly NamedTypeNode[] = []): string[] {
  return types.map(({ name }) => name.value);
}
