/** A function that finds each result once. `keyOf` identifies what to find: by default, the first argument does. */
export function remembered<Args extends readonly unknown[], T>(
  find: (...args: Args) => T,
  keyOf: (...args: Args) => unknown = (...[first]) => first,
): (...args: Args) => T {
  const known = new Map<unknown, { readonly found: T }>();
  return (...args) => {
    const key = keyOf(...args);
    const { found } = known.get(key) ?? { found: find(...args) };
    known.set(key, { found });
    return found;
  };
}
