import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { compareGraphql, compareJsonSchemas, InputError } from '../../src/index.ts';
import type { SourceText } from '../../src/index.ts';

/**
 * Compares the pairs in a folder, `NAME/old.EXT` with `NAME/new.EXT`, and prints each verdict beside that of the last run, for example
 * before a change of rules: node --conditions=deedwire-source packages/contract-check/test/support/compare-pairs.ts FOLDER
 *
 * A `.json` file is an introspection result or a JSON Schema, which is compared as a producer and as a consumer. Below a folder
 * `partial`, a GraphQL schema is a part of a larger one. The verdicts are kept in `verdicts.json` in the folder.
 */
export function comparePairs(folder: string): string {
  const file = join(folder, 'verdicts.json');
  const last: Readonly<Record<string, string>> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const pairs = globSync('**/old.*', { cwd: folder }).toSorted();
  const verdicts = Object.fromEntries(
    pairs.map((old) => [dirname(old), verdictOf(join(folder, old), join(folder, dirname(old), `new${extname(old)}`))]),
  );
  writeFileSync(file, `${JSON.stringify(verdicts, null, 2)}\n`);
  const names = [...new Set([...Object.keys(last), ...Object.keys(verdicts)])].toSorted();
  const changed = names.filter((name) => name in last && last[name] !== verdicts[name]);
  const lines = names.map((name) => {
    const mark = changed.includes(name) ? '!' : ' ';
    return [mark, name, verdicts[name] ?? 'no longer exists', last[name] ?? 'not compared before'].join('\t');
  });
  return [...lines, `${pairs.length} pairs, ${changed.length} with another verdict than in the last run`].join('\n');
}

function verdictOf(old: string, now: string): string {
  try {
    const [from, to] = [sourceOf(old), sourceOf(now)];
    if (extname(old) !== '.json' || /"__schema"\s*:/.test(from.text))
      return compareGraphql(from, to, { partial: /(?:^|[\\/])partial[\\/]/.test(old) }).verdict;
    return (['producer', 'consumer'] as const)
      .map((direction) => `${direction} ${compareJsonSchemas(from, to, { direction }).verdict}`)
      .join(', ');
  } catch (error) {
    if (error instanceof InputError) return `error: ${error.message}`;
    throw error;
  }
}

/** Named without the folder, so that errors are the same everywhere. */
function sourceOf(file: string): SourceText {
  return { file: basename(file), text: readFileSync(file, 'utf8') };
}

if (import.meta.main) process.stdout.write(`${comparePairs(process.argv[2] ?? '.')}\n`);
