import { createReadStream } from 'node:fs';

/** A line of a file, without its line break. */
export interface FileLine {
  /** Null if the bytes are not UTF-8. */
  text: string | null;
  /** The position of its first byte in the file. */
  offset: number;
  /** False if the file ends before a line break. */
  isTerminated: boolean;
}

const lineFeed = 10;

/**
 * The lines of a file from a byte on, in the batches in which they are read.
 *
 * @throws {Error} if the file cannot be read
 */
export async function* readLines(path: string, start = 0): AsyncGenerator<FileLine[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let offset = start;
  const take = (end: Buffer, isTerminated: boolean): FileLine => {
    const bytes = rest.length === 0 ? end : Buffer.concat([...rest, end]);
    const line = { text: decode(bytes), offset, isTerminated };
    offset += bytes.length + Number(isTerminated);
    rest = [];
    restBytes = 0;
    return line;
  };
  for await (const chunk of openFile(path, start)) {
    const lines: FileLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(lineFeed); to !== -1; to = chunk.indexOf(lineFeed, from)) {
      lines.push(take(chunk.subarray(from, to), true));
      from = to + 1;
    }
    if (from < chunk.length) {
      rest.push(chunk.subarray(from));
      restBytes += chunk.length - from;
    }
    yield lines;
  }
  if (restBytes > 0) yield [take(Buffer.alloc(0), false)];
}

async function* openFile(path: string, start: number): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { start });
  } catch (cause) {
    throw new Error(`Cannot read ${path}.`, { cause });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
