import type { IncomingMessage } from 'node:http';

/** Whether a browser requests a page. A quality of 0 means that the client does not take the type. */
export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(headers.accept ?? '');
}
