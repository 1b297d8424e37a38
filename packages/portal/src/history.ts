/** Where an entry of the history was left. It is a part of the entry, so that a reload keeps it too. */
interface Place {
  readonly top: number;
  /** The `href` of the link that had the focus. */
  readonly focus: string | null;
}

// A browser restores the position before the data arrives.
history.scrollRestoration = 'manual';

/** Null on an entry that is new. */
let place = placeOfEntry();
let shownPath = location.pathname;
let timer: ReturnType<typeof setTimeout> | undefined;

function placeOfEntry(): Place | null {
  const state: Partial<Place> | null = history.state;
  return state && { top: state.top ?? 0, focus: state.focus ?? null };
}

function savePlace(): void {
  clearTimeout(timer);
  const focus = document.activeElement?.getAttribute('href') ?? null;
  history.replaceState({ top: scrollY, focus } satisfies Place, '');
}

// On `popstate`, the entry that was left can no longer be changed. Safari allows 100 changes in 30 seconds.
for (const type of ['scroll', 'focusin'])
  addEventListener(type, () => {
    clearTimeout(timer);
    timer = setTimeout(savePlace, 150);
  });

addEventListener('popstate', () => {
  clearTimeout(timer);
  place = placeOfEntry() ?? { top: 0, focus: null };
});

/** Whether Back, Forward or a reload shows an entry again. */
export function isReturn(): boolean {
  return place !== null;
}

/** Changes the URL. A change to the same URL is no new entry. */
export function navigate(url: string, replace: boolean): void {
  if (replace || url === location.pathname + location.search) {
    history.replaceState(history.state, '', url);
  } else {
    savePlace();
    history.pushState(null, '', url);
  }
  place = null;
}

/**
 * Gives the heading of a new page the focus, so that a screen reader reads the page. An entry that is shown again gets its position
 * and focus back, as soon as its content is there or until somebody uses the page.
 */
export function arrive(heading: HTMLElement | null): (() => void) | undefined {
  const isOther = shownPath !== location.pathname;
  shownPath = location.pathname;
  if (isOther) heading?.focus({ preventScroll: true });
  if (isOther && !place) scrollTo(0, 0);
  if (!place) return;
  const { top, focus } = place;
  const used = new AbortController();
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    // The navigation before the content can have a link to the same.
    const link = [...document.querySelectorAll<HTMLElement>(`a[href="${CSS.escape(focus ?? '')}"]`)].at(-1);
    link?.focus({ preventScroll: true });
    if ((link || focus === null) && Math.abs(scrollY - top) < 2) used.abort();
  });
  used.signal.addEventListener('abort', () => observer.disconnect());
  for (const type of ['pointerdown', 'wheel', 'keydown'])
    addEventListener(type, () => used.abort(), { signal: used.signal });
  observer.observe(document.body);
  return () => used.abort();
}
