import type { HttpResponse } from './http-response.ts';

/** The statuses of the errors that the HTTP layer sends without asking a handler. */
export const refusalStatuses = {
  BAD_REQUEST: 400,
  EXPECTATION_FAILED: 417,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_SERVER_ERROR: 500,
  METHOD_NOT_ALLOWED: 405,
  NOT_FOUND: 404,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  REQUEST_TIMEOUT: 408,
} as const;

export type RefusalCode = keyof typeof refusalStatuses;

export interface Refusal {
  code: RefusalCode;
  /** Public. */
  message: string;
}

/** Creates the response to a refused request, in the format of the server's other errors. */
export type RenderRefusal = (refusal: Refusal, requestId: string) => HttpResponse;

/** The format without documentation and further headers. */
export const renderRefusal: RenderRefusal = ({ code, message }, requestId) => ({
  status: refusalStatuses[code],
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] }),
});
