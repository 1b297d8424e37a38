import type { TypeNode } from 'graphql';
import { printType } from './contract.ts';

/**
 * How a new type relates to the old type. `narrower`: non-null at one or more places that were nullable. `wider`:
 * nullable at one or more places that were non-null. `other`: both, or neither.
 */
export type TypeRelation = 'same' | 'narrower' | 'wider' | 'other';

export function relateTypes(from: TypeNode, to: TypeNode): TypeRelation {
  if (from.kind === 'NonNullType' && to.kind === 'NonNullType') return relateTypes(from.type, to.type);
  if (to.kind === 'NonNullType') return both('narrower', relateTypes(from, to.type));
  if (from.kind === 'NonNullType') return both('wider', relateTypes(from.type, to));
  if (from.kind === 'ListType' && to.kind === 'ListType') return relateTypes(from.type, to.type);
  // A list and its item type, or two type names, are unrelated: operations for one are usually invalid for the other.
  return printType(from) === printType(to) ? 'same' : 'other';
}

function both(outer: TypeRelation, inner: TypeRelation): TypeRelation {
  return inner === 'same' || inner === outer ? outer : 'other';
}
