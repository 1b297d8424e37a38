/** ` (did you mean "x"?)` for the closest known names, by the part that `textOf` returns. Empty if none is close. */
export function didYouMean(
  unknown: string,
  known: Iterable<string>,
  textOf: (name: string) => string = (name) => name,
): string {
  let closest: string[] = [];
  let least = Math.max(1, Math.floor(unknown.length / 3));
  for (const name of known) {
    const distance = editDistance(unknown.toLowerCase(), textOf(name).toLowerCase());
    if (distance > least) continue;
    if (distance < least) closest = [];
    least = distance;
    closest.push(JSON.stringify(name));
  }
  return closest.length === 0 ? '' : ` (did you mean ${closest.join(' or ')}?)`;
}

/** The number of characters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
