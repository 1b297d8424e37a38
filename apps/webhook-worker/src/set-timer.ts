/** Returns the function that cancels the timer. */
export function setTimer(callback: () => void, delayMs: number): () => void {
  // A timer of 0 ms would wait for 1 ms.
  if (delayMs === 0) {
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
