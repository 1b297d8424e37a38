/** A complete response, without the headers that every response has. */
export interface HttpResponse {
  status: number;
  /** With the Content-Type. */
  headers: Readonly<Record<string, string>>;
  /** Bytes if it is compressed. */
  body: string | Buffer;
  /** Called once the response is sent, or cannot be sent: for work that the client need not wait for. Must not throw. */
  afterwards?: () => void;
}

/**
 * All headers of a response: alternating names and values, which Node sends with fewer steps than an object. Every response has the
 * last four, including those that the HTTP layer sends without a handler. A handler can allow caching, and a 204 has no length.
 */
export function allHeaders({ status, headers }: HttpResponse, bodyBytes: number, requestId: string): string[] {
  const all: string[] = [];
  for (const name of Object.keys(headers)) all.push(name, headers[name] ?? '');
  if (status !== 204) all.push('Content-Length', String(bodyBytes));
  if (headers['Cache-Control'] === undefined) all.push('Cache-Control', 'no-store');
  all.push('X-Content-Type-Options', 'nosniff');
  all.push('X-Request-Id', requestId);
  return all;
}
