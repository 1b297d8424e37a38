import { charts } from './charts.ts';
import type { Results } from './results.ts';
import { regions } from './tables.ts';

/**
 * The page with the tables of the results in its regions: from `<!-- bench: name -->` to `<!-- /bench -->`.
 *
 * @throws {Error} for a region without results, and for results without a region
 */
export function fillRegions(page: string, contents: Readonly<Record<string, string>>): string {
  const filled = new Set<string>();
  const text = page.replaceAll(/(<!-- bench: (.+?) -->\n).*?(<!-- \/bench -->)/gs, (_, start, name, end) => {
    const content = contents[name];
    if (content === undefined) throw new Error(`There are no results for the region "${name}".`);
    filled.add(name);
    return `${start}\n${content}\n\n${end}`;
  });
  const missing = Object.keys(contents).filter((name) => !filled.has(name));
  if (missing.length > 0) throw new Error(`The page has no region for ${missing.join(', ')}.`);
  return text;
}

/** The generated files below `docs`, by path. `page` is the current text of `performance.md`. */
export async function pageFiles(page: string, results: Results): Promise<Record<string, string>> {
  return {
    'performance.md': fillRegions(page, regions(results)),
    ...Object.fromEntries(Object.entries(await charts(results)).map(([name, svg]) => [`performance/${name}`, svg])),
  };
}
