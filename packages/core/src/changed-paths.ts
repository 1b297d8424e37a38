/**
 * The paths of the members that differ between two objects, sorted, for example `teamMember.email`. An array is compared as a whole, and
 * so is an object that is something else on the other side.
 */
export function changedPaths(before: object, after: object): string[] {
  return [...new Set(differences(before, after, ''))].toSorted();
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (!isObject(before) || !isObject(after)) return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    differences(before[name], after[name], path === '' ? name : `${path}.${name}`),
  );
}

/** Not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
