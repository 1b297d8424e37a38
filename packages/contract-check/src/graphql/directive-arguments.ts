/**
 * What the arguments of widely used directives mean, by name: `@constraint` of several packages, `@length`, `@range` and
 * the like agree on these.
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
  // Present or not can be compared; one text with another cannot.
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

/** Null: not known. */
export function argumentMeaning(directive: string, argument: string): ArgumentMeaning | null {
  const table = costs[directive] ?? bounds;
  return Object.hasOwn(table, argument) ? (table[argument] ?? null) : null;
}
