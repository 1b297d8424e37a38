import { startStopwatch } from './stopwatch.ts';
import { useStore } from './use-store.ts';

const listeners = new Set<() => void>();

function tellListeners(): void {
  for (const listener of listeners) listener();
}

let sinceInputMs = startStopwatch();

/** Somebody is there. */
function recordInput(): void {
  sinceInputMs = startStopwatch();
  tellListeners();
}

for (const type of ['pointerdown', 'keydown']) addEventListener(type, recordInput, true);
// Of the window. That of an element can come from the page itself.
addEventListener('focus', recordInput);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') recordInput();
  else tellListeners();
});

/** Whether the page may send operations by itself. A page that is left open must not keep its session alive. */
export function isWatched(): boolean {
  return document.visibilityState === 'visible' && sinceInputMs() < 600_000;
}

function onWatch(listener: () => void): () => void {
  listeners.add(listener);
  const timer = setInterval(listener, 1000);
  return () => {
    listeners.delete(listener);
    clearInterval(timer);
  };
}

export function useWatched(): boolean {
  return useStore(onWatch, isWatched);
}
