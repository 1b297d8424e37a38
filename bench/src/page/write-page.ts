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

/** Stores the report of a bench. */
export function saveResult(name: string, report: object): void {
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(new URL(`${name}.json`, resultsFolder), `${JSON.stringify(report, null, 2)}\n`);
}

/** Writes the tables and the charts of `docs/performance.md` from the stored reports. */
export function writePage(): void {
  mkdirSync(new URL('performance/', docsFolder), { recursive: true });
  const files = pageFiles(readDocs('performance.md'), readResults());
  for (const [path, content] of Object.entries(files)) writeFileSync(new URL(path, docsFolder), content);
}
