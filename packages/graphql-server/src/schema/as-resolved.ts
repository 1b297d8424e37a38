/**
 * For the resolvers of generic types: what Pothos lets a resolver return depends on a condition that the compiler cannot
 * decide for a type parameter. Whoever calls has made sure of the type by that parameter.
 */
export function asResolved(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as never;
}
