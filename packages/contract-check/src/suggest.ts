/** ` (did you mean "x"?)` for the known name that is closest to an unknown one. Empty if none is close. */
export function didYouMean(unknown: string, known: Iterable<string>): string {
  let [closest, least] = ['', Math.max(1, Math.floor(unknown.length / 3)) + 1];
  for (const name of known) {
    const distance = editDistance(unknown.toLowerCase(), name.toLowerCase());
    if (distance < least) [closest, least] = [name, distance];
  }
  return closest === '' ? '' : ` (did you mean ${JSON.stringify(closest)}?)`;
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
