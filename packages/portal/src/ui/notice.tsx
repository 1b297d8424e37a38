import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** A page without a session, or without its contents. It gets the focus, so that a screen reader reads why. */
export function Notice({ title, children }: { title: string; children: ComponentChildren }) {
  const ref = useRef<HTMLHeadingElement>(null);
  // With the page that it replaces, whose title can name what the session has shown.
  useLayoutEffect(() => void (document.title = `${title} · Webhooks`), [title]);
  useEffect(() => ref.current?.focus(), [title]);
  return (
    <main className="notice">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </main>
  );
}
