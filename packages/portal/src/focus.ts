/**
 * When the focused element is removed, the part of the page around it gets the focus. A browser leaves it on the body, where a
 * screen reader starts again at the top.
 */
export function keepFocus(): () => void {
  let path: readonly EventTarget[] = [];
  const stop = new AbortController();
  // A click on something that takes no focus leaves the body focused, which is right.
  addEventListener('pointerdown', () => (path = []), { signal: stop.signal, capture: true });
  addEventListener('focusin', (event) => (path = event.composedPath()), { signal: stop.signal });
  const observer = new MutationObserver(() => {
    const [focused, ...around] = path.filter((each) => each instanceof HTMLElement);
    if (!focused || focused.isConnected || document.activeElement !== document.body) return;
    around.find((each) => each.isConnected && each.hasAttribute('tabindex'))?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true });
  stop.signal.addEventListener('abort', () => observer.disconnect());
  return () => stop.abort();
}
