import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { charts } from './charts.ts';
import type { Results } from './results.ts';
import { regions } from './tables.ts';

const resultsFolder = new URL('../../results/', import.meta.url);
const docsFolder = new URL('../../../docs/', import.meta.url);

export function readResults(): Results {
  return {
    delivery: read('delivery'),
    graphql: read('graphql'),
    sender: read('sender'),
    signing: read('signing'),
    versions: read('versions'),
  };
}

function read<Name extends keyof Results>(name: Name): Results[Name] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, resultsFolder), 'utf8'));
}

export function readDocs(path: string): string {
  return readFileSync(new URL(path, docsFolder), 'utf8');
}

/**
 * Stores the report of a bench.
 *
 * @param isPart the report has one part: the stored ones of the others stay
 */
export function saveResult(name: string, report: object, isPart: boolean): void {
  mkdirSync(resultsFolder, { recursive: true });
  const file = new URL(`${name}.json`, resultsFolder);
  const whole = isPart ? withPart(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}, report) : report;
  writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`);
}

/** The parts of a bench that are stored at a commit. */
export function storedParts(name: string, commit: string): string[] {
  const file = new URL(`${name}.json`, resultsFolder);
  if (!existsSync(file)) return [];
  const { commits = {} }: WithCommits = JSON.parse(readFileSync(file, 'utf8'));
  return Object.keys(commits).filter((part) => commits[part] === commit);
}

interface WithCommits {
  commits?: Readonly<Record<string, string>>;
}

/** Each part has its commit in `commits`. */
export function withPart(stored: WithCommits, part: WithCommits): WithCommits {
  return { ...stored, ...part, commits: { ...stored.commits, ...part.commits } };
}

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

/** Writes the tables and the charts of `docs/performance.md` from the stored reports. */
export async function writePage(): Promise<void> {
  mkdirSync(new URL('performance/', docsFolder), { recursive: true });
  const results = readResults();
  const page = fillRegions(readDocs('performance.md'), regions(results));
  writeFileSync(new URL('performance.md', docsFolder), page);
  for (const [name, svg] of Object.entries(await charts(results)))
    writeFileSync(new URL(`performance/${name}`, docsFolder), svg);
}
