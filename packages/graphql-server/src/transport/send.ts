import type { ServerResponse } from 'node:http';
import type { ResponseMediaType } from '../errors/error-table.ts';
import type { GraphqlResponse } from './response.ts';

interface Frame {
  mediaType: ResponseMediaType;
  requestId: string;
  /** The headers of the schema version. Empty when the request failed before a version was chosen. */
  versionHeaders: Readonly<Record<string, string>>;
}

export function send(response: ServerResponse, { status, headers, body }: GraphqlResponse, frame: Frame): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    'Content-Type': `${frame.mediaType}; charset=utf-8`,
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
    'X-Request-Id': frame.requestId,
    ...frame.versionHeaders,
  });
  response.end(bytes);
}
