import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { navigate } from './history.ts';
import { base } from './session.ts';
import { useStore } from './use-store.ts';
import { marked } from './visible-text.ts';

const changed = 'deedwire-location';

function subscribe(listener: () => void): () => void {
  for (const type of ['popstate', changed]) addEventListener(type, listener);
  return () => {
    for (const type of ['popstate', changed]) removeEventListener(type, listener);
  };
}

/** The URL after the path of the account: `deliveries/913` and the query string. */
export function useUrl(): { path: string; params: URLSearchParams } {
  const url = useStore(subscribe, () => location.pathname + location.search);
  const [path = '', query = ''] = url.slice(base.length).split('?');
  return { path, params: new URLSearchParams(query) };
}

/** @param to as in `useUrl` */
export function go(to: string, replace = false): void {
  navigate(base + to, replace);
  dispatchEvent(new Event(changed));
}

/** The query string with these parameters replaced. Null, an empty text and undefined remove one. */
export function search(params: URLSearchParams, changes: Record<string, string | null | undefined>): string {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size === 0 ? '' : `?${next}`;
}

interface LinkProps {
  readonly to: string;
  /** Whether the target takes the place of this entry of the history: it is another view of the same thing. */
  readonly replace?: boolean;
  readonly className?: string;
  readonly title?: string;
  readonly translate?: false;
  readonly 'aria-current'?: 'page' | boolean | undefined;
  readonly children: ComponentChildren;
}

/** Another state of the page it is on is read from the beginning of the part that the link is in. */
export function Link({ to, replace = false, children, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const link = event.currentTarget;
    const { pathname } = location;
    // Safari does not focus a link that is clicked.
    link.focus({ preventScroll: true });
    go(to, replace);
    if (replace || pathname !== location.pathname) return;
    const part = link.closest<HTMLElement>('[tabindex="-1"]');
    if (part && part.getBoundingClientRect().top < 0) part.scrollIntoView();
    part?.focus({ preventScroll: true });
  };
  const text = typeof children === 'string' ? <bdi>{marked(children)}</bdi> : children;
  return (
    <a {...rest} href={base + to} onClick={follow}>
      {text}
    </a>
  );
}
