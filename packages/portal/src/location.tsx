import { type ComponentProps, type MouseEvent, useSyncExternalStore } from 'react';
import { base } from './session.ts';
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
  const url = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [path = '', query = ''] = url.slice(base.length).split('?');
  return { path, params: new URLSearchParams(query) };
}

/** @param to as in `useUrl` */
export function go(to: string, replace = false): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', base + to);
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

export function Link({ to, children, ...rest }: ComponentProps<'a'> & { to: string }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  const text = typeof children === 'string' ? <bdi>{marked(children)}</bdi> : children;
  return (
    <a {...rest} href={base + to} onClick={follow}>
      {text}
    </a>
  );
}
