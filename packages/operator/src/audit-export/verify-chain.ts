import { checkLine, type LineBefore } from './check-line.ts';
import { parseLine } from './export-line.ts';
import { comparePositions, type Position } from './position.ts';
import { readLines } from './read-lines.ts';

export interface ChainProblem {
  file: string;
  /** From 1, in the file. */
  fileLine: number;
  problem: string;
}

/** Successive lines of a file whose entries are in the order of the audit log. Each export is a run. */
export interface Run {
  file: string;
  /** The position of its first byte in the file. */
  offset: number;
  entries: number;
  first: Position;
  last: Position;
}

export interface VerifiedChain {
  entries: number;
  /** Null if there is no entry. */
  firstLine: number | null;
  /** The hash that the first line continues. Null if there is no entry. */
  previousHash: string | null;
  lastLine: number | null;
  lastHash: string | null;
  runs: Run[];
}

/** Reads exports in the order of their lines. Reports each problem, and continues after it. */
export async function verifyChain(
  files: readonly string[],
  onProblem: (problem: ChainProblem) => void,
  onProgress: (lines: number) => void,
): Promise<VerifiedChain> {
  const chain: VerifiedChain = {
    entries: 0,
    firstLine: null,
    previousHash: null,
    lastLine: null,
    lastHash: null,
    runs: [],
  };
  let before: LineBefore | null = null;
  for (const file of files) {
    let fileLine = 0;
    let run: Run | undefined;
    for await (const lines of readLines(file)) {
      for (const line of lines) {
        fileLine += 1;
        const parsed = line.text === null ? null : parseLine(line.text);
        const { problem, next } = checkLine(line, parsed, before, fileLine === 1);
        if (problem !== null) onProblem({ file, fileLine, problem });
        before = next;
        if (parsed === null) continue;
        chain.firstLine ??= parsed.line;
        chain.previousHash ??= parsed.previous;
        chain.lastLine = parsed.line;
        chain.lastHash = parsed.hash;
        chain.entries += 1;
        const { position } = parsed;
        if (run === undefined || comparePositions(run.last, position) >= 0) {
          run = { file, offset: line.offset, entries: 0, first: position, last: position };
          chain.runs.push(run);
        }
        run.entries += 1;
        run.last = position;
      }
      onProgress(chain.entries);
    }
  }
  return chain;
}
