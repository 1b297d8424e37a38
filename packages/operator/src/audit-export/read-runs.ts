import { parseLine } from './export-line.ts';
import { comparePositions, type Position } from './position.ts';
import { readLines } from './read-lines.ts';
import type { Run } from './verify-chain.ts';

/** An entry of an export. */
export interface ExportedEntry extends Position {
  json: string;
  file: string;
  line: number;
}

/**
 * The entries of all runs, in the order of the audit log. A run is opened when its first entry comes next, so that few files
 * are open at once.
 */
export async function* readRuns(
  runs: readonly Run[],
  readRun: (run: Run) => AsyncIterator<ExportedEntry> = readEntries,
): AsyncGenerator<ExportedEntry> {
  const waiting = runs.toSorted((a, b) => comparePositions(a.first, b.first));
  const open: { head: ExportedEntry; rest: AsyncIterator<ExportedEntry> }[] = [];
  for (;;) {
    let earliest = earliestOf(open);
    while (waiting[0] && (!earliest || comparePositions(waiting[0].first, earliest.head) <= 0)) {
      const rest = readRun(waiting[0]);
      waiting.shift();
      const { value, done } = await rest.next();
      if (done !== true) open.push({ head: value, rest });
      earliest = earliestOf(open);
    }
    if (earliest === undefined) return;
    yield earliest.head;
    const { value, done } = await earliest.rest.next();
    if (done === true) open.splice(open.indexOf(earliest), 1);
    else earliest.head = value;
  }
}

function earliestOf<Open extends { head: ExportedEntry }>(open: readonly Open[]): Open | undefined {
  let [earliest] = open;
  for (const run of open) {
    if (earliest !== undefined && comparePositions(run.head, earliest.head) < 0) earliest = run;
  }
  return earliest;
}

/** The entries of a verified run. The file may have grown since. */
async function* readEntries({ file, offset, entries }: Run): AsyncGenerator<ExportedEntry> {
  let left = entries;
  for await (const lines of readLines(file, offset)) {
    for (const { text } of lines) {
      const parsed = text === null ? null : parseLine(text);
      if (parsed?.isIntact !== true) throw new Error(`${file} has changed since it was verified. Export again.`);
      yield { ...parsed.position, json: parsed.entry, file, line: parsed.line };
      left -= 1;
      if (left === 0) return;
    }
  }
}
