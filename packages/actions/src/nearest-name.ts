/**
 * Returns the name that is most similar to `wanted`, or null if none is similar: at most one edit per three characters.
 * Case and the characters between words do not count.
 */
export function nearestName(wanted: string, names: readonly string[]): string | null {
  const target = normalize(wanted);
  const maxEdits = Math.floor(target.length / 3);
  let nearest: string | null = null;
  let fewest = maxEdits + 1;
  for (const name of names) {
    const edits = countEdits(target, normalize(name));
    if (edits >= fewest) continue;
    nearest = name;
    fewest = edits;
  }
  return nearest;
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The Levenshtein distance, row by row. */
function countEdits(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
