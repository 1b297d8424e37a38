import type { ServerResponse } from 'node:http';
import type { ResponseMediaType } from '../errors/error-table.ts';
import type { Answer } from './answer.ts';

interface Frame {
  mediaType: ResponseMediaType;
  requestId: string;
  /** Undefined when the request failed before one was chosen. */
  schemaVersion: string | undefined;
}

export function send(response: ServerResponse, { status, headers, body }: Answer, frame: Frame): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    'Content-Type': `${frame.mediaType}; charset=utf-8`,
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
    'X-Request-Id': frame.requestId,
    ...(frame.schemaVersion !== undefined && { 'X-Service-Schema-Version': frame.schemaVersion }),
  });
  response.end(bytes);
}
