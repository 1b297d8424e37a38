import { type ReactNode, useEffect, useRef } from 'react';

/** A page without a session, or without its contents. It gets the focus, so that a screen reader reads why. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Webhooks`;
    ref.current?.focus();
  }, [title]);
  return (
    <main className="notice">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </main>
  );
}
