/**
 * The meaning of the arguments of widely used directives, by argument name. `@constraint`, `@length`, `@range` and
 * similar directives of several packages share these names.
 */
export type ArgumentMeaning = 'upper bound' | 'lower bound' | 'divisor' | 'restriction' | 'cost';

const bounds: ReadonlyMap<string, ArgumentMeaning> = new Map([
  ...meaning('upper bound', 'max maximum maxLength maxItems exclusiveMax exclusiveMaximum'),
  ...meaning('lower bound', 'min minimum minLength minItems exclusiveMin exclusiveMinimum'),
  ...meaning('divisor', 'multipleOf'),
  // Adding and removing these can be compared. Two different texts cannot.
  ...meaning('restriction', 'pattern format startsWith endsWith contains notContains'),
]);

const costs: ReadonlyMap<string, ReadonlyMap<string, ArgumentMeaning>> = new Map([
  ['cost', new Map(meaning('cost', 'weight complexity value'))],
  ['complexity', new Map(meaning('cost', 'value'))],
  ['listSize', new Map(meaning('cost', 'assumedSize'))],
]);

function meaning(of: ArgumentMeaning, names: string): (readonly [name: string, ArgumentMeaning])[] {
  return names.split(' ').map((name) => [name, of]);
}

/** Null if the meaning is unknown. */
export function argumentMeaning(directive: string, argument: string): ArgumentMeaning | null {
  return (costs.get(directive) ?? bounds).get(argument) ?? null;
}
