import type { HttpResponse } from '@deedwire/service-runtime';
import type { ResponseMediaType } from '../errors/error-table.ts';
import type { GraphqlResponse } from './response.ts';

interface Frame {
  mediaType: ResponseMediaType;
  /** The headers of the schema version. Empty when the request failed before a version was chosen. */
  versionHeaders: Readonly<Record<string, string>>;
  /** The state of the client's cost bucket. Empty when the request failed before the client was authenticated. */
  rateLimitHeaders: Readonly<Record<string, string>>;
}

const contentTypes: Record<ResponseMediaType, string> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
};

/** The size of a body if it is larger than the limit, otherwise null. A character has 1 to 3 bytes. */
export function excessBytes({ body }: HttpResponse, limitBytes: number): number | null {
  if (typeof body !== 'string' || body.length * 3 <= limitBytes) return null;
  const bytes = Buffer.byteLength(body);
  return bytes > limitBytes ? bytes : null;
}

export function serializeResponse({ status, headers, body }: GraphqlResponse, frame: Frame): HttpResponse {
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': contentTypes[frame.mediaType],
      ...frame.versionHeaders,
      ...frame.rateLimitHeaders,
    },
    body: JSON.stringify(body),
  };
}
