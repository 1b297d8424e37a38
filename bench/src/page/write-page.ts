import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pageFiles } from './page.ts';
import type { Results } from './results.ts';

const resultsFolder = new URL('../../results/', import.meta.url);
const docsFolder = new URL('../../../docs/', import.meta.url);

export function readResults(): Results {
  return { delivery: read('delivery'), graphql: read('graphql'), sender: read('sender'), signing: read('signing') };
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
  const whole = isPart ? withPart(JSON.parse(readFileSync(file, 'utf8')), report) : report;
  writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`);
}

interface WithCommits {
  commits?: Readonly<Record<string, string>>;
}

/** Each part has its commit in `commits`. */
export function withPart(stored: WithCommits, part: WithCommits): WithCommits {
  return { ...stored, ...part, commits: { ...stored.commits, ...part.commits } };
}

/** Writes the tables and the charts of `docs/performance.md` from the stored reports. */
export async function writePage(): Promise<void> {
  mkdirSync(new URL('performance/', docsFolder), { recursive: true });
  const files = await pageFiles(readDocs('performance.md'), readResults());
  for (const [path, content] of Object.entries(files)) writeFileSync(new URL(path, docsFolder), content);
}
