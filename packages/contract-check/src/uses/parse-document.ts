import { GraphQLError, Source, isExecutableDefinitionNode, parse, type DocumentNode } from 'graphql';
import { failAt, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';

/**
 * @param hint what to say after a syntax error
 * @throws {InputError} which starts with `file:line:column: `.
 */
export function parseDocument({ file, text }: SourceText, hint = ''): DocumentNode {
  try {
    const document = withinStack(file, () => parse(new Source(text, file)));
    const other = document.definitions.find((definition) => !isExecutableDefinitionNode(definition));
    if (other === undefined) return document;
    const found = 'Expected operations and fragments, found a definition of a schema.';
    throw new GraphQLError(found, { nodes: other });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return failWith(error, file, error.nodes === undefined ? ` ${hint}`.trimEnd() : '');
  }
}

/**
 * @param file is named if the error has no place
 * @param more follows the message
 */
export function failWith(error: GraphQLError, file: string, more = ''): never {
  // Those of nodes with a place, which what replaces another node has not.
  const sources = (error.nodes ?? []).flatMap(({ loc }) => (loc ? [loc.source] : []));
  const places = (error.locations ?? []).map(({ line, column }, index) => {
    const { name = file } = sources[index] ?? error.source ?? {};
    return `${name}:${line}:${column}`;
  });
  const [first = file, ...also] = places;
  failAt(first, `${error.message}${more}${also.length === 0 ? '' : ` (also ${also.join(', ')})`}`, { cause: error });
}
