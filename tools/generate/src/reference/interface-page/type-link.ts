import { getNamedType, isSpecifiedScalarType, type GraphQLType } from 'graphql';
import { anchor, code, link } from '../markdown.ts';

/** A type as SDL writes it, linked to its section. */
export function typeLink(type: GraphQLType): string {
  const named = getNamedType(type);
  const text = code(String(type));
  return isSpecifiedScalarType(named) ? text : link(text, anchor(named.name));
}
