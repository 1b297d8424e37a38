import type { ExportLine } from './export-line.ts';
import type { FileLine } from './read-lines.ts';

/** What is known about the line before. */
export interface LineBefore {
  line: number;
  /** Null if that line could not be read. */
  hash: string | null;
}

/** What a line proves: what is wrong with it, or null, and what the next line has to continue. */
export interface LineVerdict {
  problem: string | null;
  next: LineBefore | null;
}

/**
 * Checks a line against the one before it.
 *
 * @param parsed null if the text is not a line of an export
 * @param before null at the start of the first file, which may begin at any line
 * @param startsFile whether it is the first line of a further file
 */
export function checkLine(
  { isTerminated }: FileLine,
  parsed: ExportLine | null,
  before: LineBefore | null,
  startsFile: boolean,
): LineVerdict {
  if (parsed === null) {
    const problem = isTerminated
      ? 'it is not a line of an audit export'
      : 'it is incomplete: the file was truncated, or its export was interrupted';
    return { problem, next: before && { line: before.line + 1, hash: null } };
  }
  return { problem: findProblem(parsed, before, startsFile), next: { line: parsed.line, hash: parsed.hash } };
}

function findProblem(parsed: ExportLine, before: LineBefore | null, startsFile: boolean): string | null {
  if (!parsed.isIntact) return `its content was changed: it does not have the hash ${parsed.hash}`;
  const expected = (before?.line ?? 0) + 1;
  if (before !== null && parsed.line !== expected) {
    const found = `it is line ${parsed.line} of the export, but line ${expected} is expected`;
    if (startsFile) return `${found}: a file is missing, or the files are in the wrong order`;
    if (parsed.line < expected) return `${found}: lines were swapped or repeated`;
    const missing = parsed.line - expected;
    return `${found}: ${missing === 1 ? 'a line was' : `${missing} lines were`} removed or moved`;
  }
  const previous = parsed.line === 1 ? '0'.repeat(64) : (before?.hash ?? parsed.previous);
  if (parsed.previous === previous) return null;
  if (parsed.line === 1) return `it is the first line of the export, but names a line before it`;
  return (
    `it continues a line with the hash ${parsed.previous}, but line ${parsed.line - 1} has ${previous}: ` +
    'that line was replaced, or the lines are from different exports'
  );
}
