/**
 * Turns off the type check of a resolver's result, for the resolvers of generic types. The type that Pothos allows there
 * is conditional, and the compiler cannot evaluate it for a type parameter. The caller must make sure of the type itself.
 */
export function uncheckedResult(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as never;
}
