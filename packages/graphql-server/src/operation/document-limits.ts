import { type DocumentNode, Kind, Lexer, type OperationDefinitionNode, type SelectionSetNode, Source } from 'graphql';
import { RequestError } from '../errors/request-error.ts';

/** What a document may hold, whatever its variables are and whoever sends it. */
export interface DocumentLimits {
  /** Names, values and punctuation; commas, blanks and comments are none. */
  queryTokens: number;
  /** Fields in fields, of each operation. What is below `__schema` and `__type` does not count. */
  queryDepth: number;
  /** Of each operation, those of a fragment as often as it is spread. */
  queryAliases: number;
  /** The same for directives. */
  queryDirectives: number;
}

/**
 * Counts the tokens up to the end, or up to what is none. Only for a document that was not parsed: the parser stops at the
 * limit without counting the rest, and does not tell that from other errors.
 *
 * @throws {RequestError} when there are too many.
 */
export function checkTokens(query: string, { queryTokens }: Pick<DocumentLimits, 'queryTokens'>): void {
  const lexer = new Lexer(new Source(query));
  let tokens = 0;
  try {
    while (lexer.advance().kind !== '<EOF>') tokens += 1;
  } catch {
    // The parser says it better.
  }
  if (tokens > queryTokens) throw tooMany('document', tokens, 'tokens', queryTokens);
}

/** To be called before validation, which takes time that grows with the square of some documents. @throws {RequestError} */
export function checkDocument(document: DocumentNode, limits: DocumentLimits): void {
  const measure = createMeasure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, aliases, directives } = measure(definition);
    if (depth > limits.queryDepth) throw tooMany('operation', depth, 'levels of fields', limits.queryDepth);
    if (aliases > limits.queryAliases) throw tooMany('operation', aliases, 'aliases', limits.queryAliases);
    if (directives > limits.queryDirectives)
      throw tooMany('operation', directives, 'directives', limits.queryDirectives);
  }
}

function tooMany(where: string, count: number, what: string, limit: number): RequestError {
  const [found, allowed] = [count, limit].map((number) => number.toLocaleString('en'));
  const message = `The ${where} has ${found} ${what}; at most ${allowed} are allowed.`;
  return new RequestError('OPERATION_TOO_COMPLEX', { message });
}

interface Extent {
  depth: number;
  aliases: number;
  directives: number;
}

const nothing: Extent = { depth: 0, aliases: 0, directives: 0 };

/** Fragments are expanded without being written out: each is measured once, however often it is spread. */
function createMeasure(document: DocumentNode): (operation: OperationDefinitionNode) => Extent {
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  const measured = new Map<string, Extent>();

  function ofFragment(name: string): Extent {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, nothing); // one that spreads itself, which validation refuses
    const fragment = fragments.get(name);
    const { depth, aliases, directives } = ofSelections(fragment?.selectionSet);
    const extent = { depth, aliases, directives: directives + countOf(fragment?.directives) };
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
      const isIntrospection = isField && (selection.name.value === '__schema' || selection.name.value === '__type');
      total.depth = Math.max(total.depth, (isField ? 1 : 0) + (isIntrospection ? 0 : inner.depth));
      total.aliases += (isField && selection.alias ? 1 : 0) + inner.aliases;
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
