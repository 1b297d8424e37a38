import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { arrive } from '../history.ts';
import { useUrl } from '../location.tsx';
import { marked } from '../visible-text.ts';

/** The heading of a page, and where the page starts to be read. */
export function Heading({
  title,
  above,
  children,
}: {
  title: string;
  above?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const { path, params } = useUrl();
  const ref = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${ref.current?.textContent} · Webhooks`;
  }, [title]);
  useEffect(() => arrive(ref.current), [path, params.toString()]);
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
