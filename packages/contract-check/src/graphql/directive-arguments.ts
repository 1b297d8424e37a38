/**
 * The meaning of the arguments of widely used directives, by argument name. `@constraint`, `@length`, `@range` and
 * similar directives of several packages share these names.
 */
export type ArgumentMeaning = 'upper bound' | 'lower bound' | 'divisor' | 'restriction' | 'cost';

const bounds: Readonly<Record<string, ArgumentMeaning>> = {
  max: 'upper bound',
  maximum: 'upper bound',
  maxLength: 'upper bound',
  maxItems: 'upper bound',
  exclusiveMax: 'upper bound',
  exclusiveMaximum: 'upper bound',
  min: 'lower bound',
  minimum: 'lower bound',
  minLength: 'lower bound',
  minItems: 'lower bound',
  exclusiveMin: 'lower bound',
  exclusiveMinimum: 'lower bound',
  multipleOf: 'divisor',
  // Adding and removing these can be compared. Two different texts cannot.
  pattern: 'restriction',
  format: 'restriction',
  startsWith: 'restriction',
  endsWith: 'restriction',
  contains: 'restriction',
  notContains: 'restriction',
};

const costs: Readonly<Record<string, Readonly<Record<string, ArgumentMeaning>>>> = {
  cost: { weight: 'cost', complexity: 'cost', value: 'cost' },
  complexity: { value: 'cost' },
  listSize: { assumedSize: 'cost' },
};

/** Null if the meaning is unknown. */
export function argumentMeaning(directive: string, argument: string): ArgumentMeaning | null {
  const table = costs[directive] ?? bounds;
  return Object.hasOwn(table, argument) ? (table[argument] ?? null) : null;
}
