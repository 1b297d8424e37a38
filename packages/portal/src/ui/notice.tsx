import type { ReactNode } from 'react';

/** A page without a session, or without its contents. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="notice">
      <h1>{title}</h1>
      {children}
    </main>
  );
}
