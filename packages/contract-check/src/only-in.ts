/** The elements of the first set that are not in the second, sorted. */
export function onlyIn(set: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...set].filter((value) => !other.has(value)).toSorted();
}
