/** A complete response, without the headers that every response has. */
export interface HttpResponse {
  status: number;
  /** With the Content-Type. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Called once the response is sent, or cannot be sent: for work that the client need not wait for. Must not throw. */
  afterwards?: () => void;
}

/** The headers of every response, also of those that the HTTP layer sends without a handler. */
export function allHeaders({ headers }: HttpResponse, bodyBytes: number, requestId: string): Record<string, string> {
  return {
    ...headers,
    'Content-Length': String(bodyBytes),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  };
}
