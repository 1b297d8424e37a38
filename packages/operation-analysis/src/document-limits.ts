import { type DocumentNode, Kind, Lexer, type OperationDefinitionNode, type SelectionSetNode, Source } from 'graphql';
import { fragmentsOf } from './document-nodes.ts';
import { OperationTooComplexError } from './operation-too-complex-error.ts';

/** Limits of a document. They depend neither on its variables nor on the client. */
export interface DocumentLimits {
  /** Counts names, values and punctuation. Commas, white space and comments are not tokens. */
  queryTokens: number;
  /** The nesting of fields in each operation. Fields below `__schema` and `__type` do not count. */
  queryDepth: number;
  /** In each operation. The aliases of a fragment count once for each spread. */
  queryAliases: number;
  /** In each operation, counted like aliases. */
  queryDirectives: number;
}

/**
 * Counts the tokens up to the end or to the first lexical error. Call it only after parsing has failed: the parser stops at
 * the limit, and its error neither has the total nor differs from other syntax errors.
 *
 * @throws {OperationTooComplexError} if the document has too many tokens.
 */
export function checkTokens(query: string, { queryTokens }: Pick<DocumentLimits, 'queryTokens'>): void {
  const lexer = new Lexer(new Source(query));
  let tokens = 0;
  try {
    while (lexer.advance().kind !== '<EOF>') tokens += 1;
  } catch {
    // A lexical error: the caller has the parser's error, which is more specific.
  }
  if (tokens > queryTokens) throw tooMany('document', tokens, 'tokens', queryTokens);
}

// Only the response shows what introspection costs, and a short document could repeat the whole schema.
const maxIntrospection = 5;
const noSchemaAliases = 'The field __schema, and fields below __schema and __type, can have no aliases.';

/**
 * Call it before validation, whose time grows with the document.
 *
 * @throws {OperationTooComplexError} if an operation exceeds a limit.
 */
export function checkDocument(document: DocumentNode, limits: DocumentLimits): void {
  const measure = createMeasure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, aliases, directives, introspection, schemaAliases } = measure(definition);
    if (depth > limits.queryDepth) throw tooMany('operation', depth, 'levels of fields', limits.queryDepth);
    if (aliases > limits.queryAliases) throw tooMany('operation', aliases, 'aliases', limits.queryAliases);
    if (directives > limits.queryDirectives)
      throw tooMany('operation', directives, 'directives', limits.queryDirectives);
    if (introspection > maxIntrospection)
      throw tooMany('operation', introspection, 'fields __schema and __type', maxIntrospection);
    if (schemaAliases > 0) throw new OperationTooComplexError(noSchemaAliases);
  }
}

function tooMany(where: string, count: number, what: string, limit: number): Error {
  const [found, allowed] = [count, limit].map((number) => number.toLocaleString('en'));
  return new OperationTooComplexError(`The ${where} has ${found} ${what}; at most ${allowed} are allowed.`);
}

interface Extent {
  depth: number;
  aliases: number;
  directives: number;
  /** The fields `__schema` and `__type`. */
  introspection: number;
  /** Of `__schema`, and of fields below `__schema` or `__type`. */
  schemaAliases: number;
}

const nothing: Extent = { depth: 0, aliases: 0, directives: 0, introspection: 0, schemaAliases: 0 };

/** Measures each fragment once, however often it is spread, so that nested fragments do not take exponential time. */
function createMeasure(document: DocumentNode): (operation: OperationDefinitionNode) => Extent {
  const fragments = fragmentsOf(document);
  const measured = new Map<string, Extent>();

  function ofFragment(name: string): Extent {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, nothing); // ends the recursion for a fragment that spreads itself; validation rejects it later
    const fragment = fragments.get(name);
    const inner = ofSelections(fragment?.selectionSet);
    const extent = { ...inner, directives: inner.directives + countOf(fragment?.directives) };
    measured.set(name, extent);
    return extent;
  }

  function ofSelections({ selections }: Pick<SelectionSetNode, 'selections'> = { selections: [] }): Extent {
    const total = { ...nothing };
    for (const selection of selections) {
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSelections(selection.selectionSet);
      const name = isField ? selection.name.value : '';
      const isIntrospection = name === '__schema' || name === '__type';
      const ownAliases = isField && selection.alias ? 1 : 0;
      total.depth = Math.max(total.depth, (isField ? 1 : 0) + (isIntrospection ? 0 : inner.depth));
      total.aliases += ownAliases + inner.aliases;
      total.introspection += isIntrospection ? 1 : inner.introspection;
      if (isIntrospection) total.schemaAliases += inner.aliases + (name === '__schema' ? ownAliases : 0);
      else total.schemaAliases += inner.schemaAliases;
      total.directives += countOf(selection.directives) + inner.directives;
    }
    return total;
  }

  return ({ directives, variableDefinitions = [], selectionSet }) => {
    const inner = ofSelections(selectionSet);
    const ofVariables = variableDefinitions.reduce((count, variable) => count + countOf(variable.directives), 0);
    return { ...inner, directives: countOf(directives) + ofVariables + inner.directives };
  };
}

function countOf(nodes: readonly unknown[] | undefined): number {
  return nodes?.length ?? 0;
}
