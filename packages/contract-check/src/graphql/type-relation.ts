import type { TypeNode } from 'graphql';
import { printType } from './contract.ts';

/**
 * How a type relates to an earlier one: `narrower` when it has only some of the values (non-null at one or more places
 * where null was allowed), `wider` the other way round, `other` when it is both or neither.
 */
export type TypeRelation = 'same' | 'narrower' | 'wider' | 'other';

export function relateTypes(from: TypeNode, to: TypeNode): TypeRelation {
  if (from.kind === 'NonNullType' && to.kind === 'NonNullType') return relateTypes(from.type, to.type);
  if (to.kind === 'NonNullType') return both('narrower', relateTypes(from, to.type));
  if (from.kind === 'NonNullType') return both('wider', relateTypes(from.type, to));
  if (from.kind === 'ListType' && to.kind === 'ListType') return relateTypes(from.type, to.type);
  // A list and its item, or two names: no operation that was written for one is valid for the other in general.
  return printType(from) === printType(to) ? 'same' : 'other';
}

function both(outer: TypeRelation, inner: TypeRelation): TypeRelation {
  return inner === 'same' || inner === outer ? outer : 'other';
}
