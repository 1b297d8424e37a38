import type { GraphQLError, GraphQLFormattedError, SourceLocation } from 'graphql';

/** An error in a document, as the response shows it, without `extensions`. */
export type FoundError = Pick<GraphQLFormattedError, 'message' | 'locations'>;

const maxMessageLength = 500;
/** An error about a repeated name has a node for each repetition. */
const maxLocations = 10;

export function describeFoundError(error: GraphQLError): FoundError {
  const locations = placesOf(error);
  return { message: shorten(error.message), ...(locations && locations.length > 0 && { locations }) };
}

/** Corrects the places of an error in execution: the document has no text (see `createDocumentSteps`), and a field can be repeated. */
export function withPlaces<Found extends GraphQLError>(error: Found): Found {
  return Object.assign(error, { locations: placesOf(error) });
}

/** Reads the places from the nodes, because the lexer has counted the lines already. */
function placesOf({ nodes, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  const places = nodes
    ?.slice(0, maxLocations)
    .flatMap(({ loc }) => (loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : []));
  return places ?? locations?.slice(0, maxLocations);
}

/** graphql's messages repeat names from the document, which can be long and frequent. */
export function shorten(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)}…`;
}
