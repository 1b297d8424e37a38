import { type ReactNode, useEffect, useRef } from 'react';
import { marked } from '../visible-text.ts';

let shownPath = location.pathname;

/** The heading of a page. After a change of the page it gets the focus, so that a screen reader reads the new page. */
export function Heading({ title, above, children }: { title: string; above?: ReactNode; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Webhooks`;
    if (shownPath === location.pathname) return;
    shownPath = location.pathname;
    scrollTo(0, 0);
    ref.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div className="heading">
      {above && <small>{above}</small>}
      <h1 ref={ref} tabIndex={-1}>
        {marked(title)}
      </h1>
      {children}
    </div>
  );
}
