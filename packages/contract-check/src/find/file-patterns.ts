import { posix } from 'node:path';
import { foldersAround } from '../source/folders-around.ts';

/**
 * Patterns that match some files and no others with the same ending: of all files in a folder, or else of a single one.
 *
 * @param found relative to the folder of the patterns
 * @param all the paths of all files in that folder, which include `found`
 */
export function filePatterns(found: readonly string[], all: Iterable<string>): string[] {
  const wanted = new Set(found);
  const counts = new Map<string, { all: number; found: number; isDeep: boolean }>();
  for (const path of all)
    for (const folder of foldersOf(path))
      // A pattern for `.json` matches `.schema.json` too.
      for (const ending of new Set([endingOf(path), posix.extname(path)])) {
        const key = keyOf(folder, ending);
        const count = counts.get(key) ?? { all: 0, found: 0, isDeep: false };
        count.all += 1;
        if (wanted.has(path)) count.found += 1;
        if (posix.dirname(path) !== folder) count.isDeep = true;
        counts.set(key, count);
      }
  const patterns = found.map((path) => {
    for (const folder of foldersOf(path)) {
      const count = counts.get(keyOf(folder, endingOf(path)));
      if (count !== undefined && count.all > 1 && count.all === count.found)
        return `${literal(folder)}/${count.isDeep ? '**/' : ''}*${endingOf(path)}`;
    }
    return literal(path);
  });
  return [...new Set(patterns)].toSorted();
}

/** The folders around a file, the outermost first. */
function foldersOf(path: string): string[] {
  return foldersAround(posix.dirname(path)).slice(0, -1).toReversed();
}

function keyOf(folder: string, ending: string): string {
  return `${folder}\n${ending}`;
}

function endingOf(path: string): string {
  return path.endsWith('.schema.json') ? '.schema.json' : posix.extname(path);
}

/** A pattern that matches only this path. */
function literal(path: string): string {
  return path.replaceAll(/[\\*?+[\](){}!|]/g, '\\$&');
}
