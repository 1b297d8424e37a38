/** `alarm`: needs an operator. `security`: a refused request. `other`: everything else, for example served requests. */
export const lineKinds = ['alarm', 'security', 'other'] as const;
export type LineKind = (typeof lineKinds)[number];
export type LineCounts = Readonly<Record<LineKind, number>>;

const defaultMaxCharacters: LineCounts = { alarm: 256 * 1024, security: 512 * 1024, other: 1024 * 1024 };
const maxWrite = 64 * 1024;
const longestPauseMs = 50;
/** How long an exit waits for the reader, in milliseconds. */
const exitWaitMs = 1000;

export interface LogDestination {
  /** Never blocks and never throws. Drops the line if too many lines of its kind are waiting. */
  write(line: string, kind: LineKind): void;
  /** Lines that were dropped since the start. */
  dropped(): LineCounts;
  /** Waits until all lines are written, at most for a second. For the end of the process, which runs no more callbacks. */
  flushSync(): void;
}

export interface LogDestinationOptions {
  /** Writes the first bytes of a buffer and returns their number. Throws EAGAIN if the reader has to catch up first. */
  writeBytes: (bytes: Buffer) => number;
  /** Called with the number of dropped lines once the reader has caught up. */
  onRecovered: (dropped: LineCounts) => void;
  /** Lines of each kind that may wait for the reader, in UTF-16 code units. */
  maxCharacters?: LineCounts;
}

interface Line {
  text: string;
  kind: LineKind;
}

const noLines = (): Record<LineKind, number> => ({ alarm: 0, security: 0, other: 0 });

/**
 * Writes lines in batches, without waiting for the reader. A pipe that nothing reads is full after 64 kB; a process that
 * waits for it serves no requests. So lines wait in memory up to a bound, and the others are dropped and counted. Each kind
 * has its own bound, so that no number of requests displaces the lines about refused ones or alarms. All lines wait in one
 * queue, in order.
 */
export function createLogDestination(options: LogDestinationOptions): LogDestination {
  const { writeBytes, onRecovered, maxCharacters = defaultMaxCharacters } = options;
  let lines: Line[] = [];
  const characters = noLines();
  /** Taken from `lines`, and perhaps partly written. */
  let bytes = Buffer.alloc(0);
  let inBytes: readonly Line[] = [];
  const dropped = noLines();
  let reported: LineCounts = noLines();
  let hasUnreported = false;
  let pauseMs = 0;
  let isScheduled = false;

  function takeBatch(): void {
    let size = 0;
    let count = 0;
    for (const { text, kind } of lines) {
      if (size >= maxWrite) break;
      size += text.length;
      characters[kind] -= text.length;
      count += 1;
    }
    inBytes = lines.slice(0, count);
    lines = lines.slice(count);
    bytes = Buffer.from(inBytes.map(({ text }) => text).join(''));
  }

  function drop(kind: LineKind): void {
    dropped[kind] += 1;
    hasUnreported = true;
  }

  function writeBatch(): 'written' | 'slow' | 'failed' {
    if (bytes.length === 0) takeBatch();
    try {
      bytes = bytes.subarray(writeBytes(bytes));
      return 'written';
    } catch (error) {
      if (isReaderSlow(error)) return 'slow';
      // The reader has closed the pipe, or the disk is full. There is no other place to report it.
      bytes = Buffer.alloc(0);
      for (const { kind } of inBytes) drop(kind);
      return 'failed';
    }
  }

  const isEmpty = () => bytes.length === 0 && lines.length === 0;

  function writeWaiting(): void {
    isScheduled = false;
    let result: ReturnType<typeof writeBatch> = 'failed';
    while (!isEmpty()) {
      result = writeBatch();
      if (result === 'slow') {
        pauseMs = Math.min(pauseMs * 2 || 1, longestPauseMs);
        schedule();
        return;
      }
      pauseMs = 0;
    }
    // Not after a failure, because the report would fail too, and so on.
    if (result === 'written') reportDropped();
  }

  function reportDropped(): void {
    if (!hasUnreported) return;
    hasUnreported = false;
    const counts = noLines();
    for (const kind of lineKinds) counts[kind] = dropped[kind] - reported[kind];
    reported = { ...dropped };
    onRecovered(counts);
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // Neither keeps the process alive: `flushSync` writes the rest at its exit.
    if (pauseMs === 0) setImmediate(writeWaiting).unref();
    else setTimeout(writeWaiting, pauseMs).unref();
  }

  return {
    write(text, kind) {
      if (characters[kind] + text.length > maxCharacters[kind]) {
        drop(kind);
        return;
      }
      lines.push({ text, kind });
      characters[kind] += text.length;
      schedule();
    },
    dropped: () => ({ ...dropped }),
    flushSync() {
      const deadlineMs = performance.now() + exitWaitMs;
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      while (!isEmpty()) {
        const result = writeBatch();
        if (result === 'slow' && performance.now() > deadlineMs) return;
        if (result === 'slow') Atomics.wait(sleeper, 0, 0, 5);
        if (result === 'written' && isEmpty()) reportDropped();
      }
    },
  };
}

function isReaderSlow(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EWOULDBLOCK');
}
