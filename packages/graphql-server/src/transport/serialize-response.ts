import type { HttpResponse } from '@deedwire/service-runtime';
import type { ResponseMediaType } from '../errors/error-table.ts';
import type { GraphqlResponse } from './response.ts';

interface Frame {
  mediaType: ResponseMediaType;
  /** The headers of the schema version. Empty when the request failed before a version was chosen. */
  versionHeaders: Readonly<Record<string, string>>;
}

export function serializeResponse({ status, headers, body }: GraphqlResponse, frame: Frame): HttpResponse {
  return {
    status,
    headers: { ...headers, 'Content-Type': `${frame.mediaType}; charset=utf-8`, ...frame.versionHeaders },
    body: JSON.stringify(body),
  };
}
