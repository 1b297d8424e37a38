import type { RenderRefusal } from '@deedwire/service-runtime';
import type { Documentation } from '../documentation.ts';
import { RequestError } from '../errors/request-error.ts';
import { errorResponse } from './response.ts';
import { serializeResponse } from './serialize-response.ts';

/** The response to a request that the HTTP layer refused. It has the format of every other error of the interface. */
export function createRefusalRenderer(documentation: Pick<Documentation, 'error'>): RenderRefusal {
  return ({ code, message }, requestId) => {
    const mediaType = 'application/json';
    const response = errorResponse(new RequestError(code, { message }), { mediaType, requestId, documentation });
    return serializeResponse(response, { mediaType, versionHeaders: {}, rateLimitHeaders: {} });
  };
}
