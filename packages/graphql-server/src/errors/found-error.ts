import type { GraphQLError, GraphQLFormattedError } from 'graphql';

/** An error in a document, as the response shows it, without `extensions`. */
export type FoundError = Pick<GraphQLFormattedError, 'message' | 'locations'>;

const maxMessageLength = 500;
/** An error about a repeated name has a node for each repetition. */
const maxLocations = 10;

/**
 * Reads the places from the nodes, because the lexer has counted the lines already. `locations` of a GraphQLError counts
 * them again, from the start of the document.
 */
export function describeFoundError({ message, nodes, locations }: GraphQLError): FoundError {
  const places = nodes
    ?.slice(0, maxLocations)
    .flatMap(({ loc }) => (loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : []));
  const found = places ?? locations?.slice(0, maxLocations);
  return { message: shorten(message), ...(found && found.length > 0 && { locations: found }) };
}

/** graphql's messages repeat names from the document, which can be long and frequent. */
export function shorten(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)}…`;
}
