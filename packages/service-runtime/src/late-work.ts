/** Work waits for this long at most, in milliseconds. */
const delayMs = 10;
/** So much work is done at once, so that it does not occupy the process for longer than a millisecond. */
const maxWaiting = 64;

let waiting: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;
let runsAtExit = false;

/**
 * Does work a moment later, together with other work of its kind. After each request, other processes have used the caches of the
 * processor, so that the work of many requests at once takes a fraction of the time. Nothing is lost when the process exits, but
 * SIGKILL loses the waiting work. The work must not throw.
 */
export function doLater(work: () => void): void {
  waiting.push(work);
  if (waiting.length >= maxWaiting) {
    doWaitingWork();
    return;
  }
  timer ??= setTimeout(doWaitingWork, delayMs).unref();
  if (runsAtExit) return;
  runsAtExit = true;
  // Before the log is written.
  process.prependListener('exit', doWaitingWork);
}

/** For what shows the results of late work, and for the end of the process. */
export function doWaitingWork(): void {
  clearTimeout(timer);
  timer = undefined;
  const works = waiting;
  waiting = [];
  for (const work of works) work();
}
