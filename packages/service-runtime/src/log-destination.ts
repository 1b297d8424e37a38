const defaultMaxCharacters = 1024 * 1024;
const maxWrite = 64 * 1024;
const longestPauseMs = 50;
/** How long an exit waits for the reader, in milliseconds. */
const exitWaitMs = 1000;

export interface LogDestination {
  /** Never blocks and never throws. Drops the line if too many lines are waiting. */
  write(line: string): void;
  /** Lines that were dropped since the start. */
  dropped(): number;
  /** Waits until all lines are written, at most for a second. For the end of the process, which runs no more callbacks. */
  flushSync(): void;
}

export interface LogDestinationOptions {
  /** Writes the first bytes of a buffer and returns their number. Throws EAGAIN if the reader has to catch up first. */
  writeBytes: (bytes: Buffer) => number;
  /** Called with the number of dropped lines once the reader has caught up. */
  onRecovered: (dropped: number) => void;
  /** Lines that may wait for the reader, in UTF-16 code units. */
  maxCharacters?: number;
}

/**
 * Writes lines in batches, without waiting for the reader. A pipe that nothing reads is full after 64 kB; a process that
 * waits for it serves no requests. So lines wait in memory up to a bound, and further ones are dropped and counted.
 */
export function createLogDestination(options: LogDestinationOptions): LogDestination {
  const { writeBytes, onRecovered, maxCharacters = defaultMaxCharacters } = options;
  let lines: string[] = [];
  let characters = 0;
  /** Taken from `lines`, and perhaps partly written. */
  let bytes = Buffer.alloc(0);
  let linesInBytes = 0;
  let dropped = 0;
  let reported = 0;
  let pauseMs = 0;
  let isScheduled = false;

  function takeBatch(): void {
    let size = 0;
    let count = 0;
    while (count < lines.length && size < maxWrite) {
      size += lines[count]?.length ?? 0;
      count += 1;
    }
    const batch = lines.slice(0, count);
    lines = lines.slice(count);
    characters -= size;
    bytes = Buffer.from(batch.join(''));
    linesInBytes = count;
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
      dropped += linesInBytes;
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
    if (dropped === reported) return;
    const count = dropped - reported;
    reported = dropped;
    onRecovered(count);
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // Neither keeps the process alive: `flushSync` writes the rest at its exit.
    if (pauseMs === 0) setImmediate(writeWaiting).unref();
    else setTimeout(writeWaiting, pauseMs).unref();
  }

  return {
    write(line) {
      if (characters + line.length > maxCharacters) {
        dropped += 1;
        return;
      }
      lines.push(line);
      characters += line.length;
      schedule();
    },
    dropped: () => dropped,
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
