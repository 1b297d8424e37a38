import type { RenderRefusal } from '@deedwire/service-runtime';
import type { Documentation } from '../documentation.ts';
import { RequestError } from '../errors/request-error.ts';
import { errorResponse } from './response.ts';

/** The response to a request that the HTTP layer refused. It has the format of every other error of the interface. */
export function createRefusalRenderer(documentation: Pick<Documentation, 'error'>): RenderRefusal {
  return ({ code, message }, requestId) => {
    const mediaType = 'application/json';
    const { status, headers, body } = errorResponse(new RequestError(code, { message }), {
      mediaType,
      requestId,
      documentation,
    });
    const contentType = `${mediaType}; charset=utf-8`;
    return { status, headers: { ...headers, 'Content-Type': contentType }, body: JSON.stringify(body) };
  };
}
