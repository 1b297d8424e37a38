import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

export interface Observed {
  /** In the order of the responses. */
  readonly responses: readonly KitResponse[];
  /** How many requests have no response yet. */
  readonly inFlight: () => number;
}

export interface KitResponse {
  status: number;
  /** Of the request. */
  headers: IncomingHttpHeaders;
}

/** Records everything that an HTTP server responds to. */
export function observe(server: Server): Observed {
  const responses: KitResponse[] = [];
  let inFlight = 0;
  server.on('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    inFlight += 1;
    response.on('finish', () => responses.push({ status: response.statusCode, headers }));
    response.on('close', () => {
      inFlight -= 1;
    });
  });
  return { responses, inFlight: () => inFlight };
}
