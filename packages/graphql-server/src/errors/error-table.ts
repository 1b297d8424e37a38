interface ErrorRow {
  /** The status with `application/graphql-response+json`. */
  status: number;
  /** The status with `application/json`. It is 200 for requests that GraphQL itself rejects. */
  jsonStatus: number;
  /** Used when the error has no more specific message. */
  message: string;
  headers: Readonly<Record<string, string>>;
}

function row(status: number, message: string, more: Partial<ErrorRow> = {}): ErrorRow {
  return { status, jsonStatus: status, message, headers: {}, ...more };
}

/** In seconds. Long enough for a database to fail over. */
const retry = { headers: { 'Retry-After': '5' } };

/** Every code that an error of either interface can have, and the response without `data` for it. */
export const errorTable = {
  BAD_REQUEST: row(400, 'The body is not a GraphQL request. Send a JSON object with a "query".'),
  BAD_USER_INPUT: row(400, 'An argument or a variable is invalid.', { jsonStatus: 200 }),
  CURSOR_EXPIRED: row(400, 'The event after this cursor is no longer kept.', { jsonStatus: 200 }),
  EXPECTATION_FAILED: row(417, 'The Expect header is not supported. Send "100-continue", or omit the header.'),
  FORBIDDEN: row(403, 'The key, or the session of the portal, does not have an ability that the operation needs.'),
  GRAPHQL_PARSE_FAILED: row(400, 'The document is not valid GraphQL.', { jsonStatus: 200 }),
  GRAPHQL_VALIDATION_FAILED: row(400, 'The document does not match the schema.', { jsonStatus: 200 }),
  HEADERS_TOO_LARGE: row(431, 'The headers are too large. Send fewer or shorter headers.'),
  INTERNAL_SERVER_ERROR: row(500, 'An internal error occurred. Include the request id when you report it.'),
  METHOD_NOT_ALLOWED: row(405, 'This method is not allowed. Send requests with POST.', { headers: { Allow: 'POST' } }),
  NOT_ACCEPTABLE: row(
    406,
    'The Accept header allows no supported media type. Accept application/graphql-response+json or application/json, in UTF-8.',
  ),
  NOT_FOUND: row(404, 'This path does not exist. Check the URL.'),
  OPERATION_TIMEOUT: row(
    503,
    'The operation timed out. Its changes may have been applied, so repeat a mutation with the same idempotency key.',
    retry,
  ),
  OPERATION_TOO_COMPLEX: row(400, 'The operation is too complex. Split it into several requests.', { jsonStatus: 200 }),
  PAYLOAD_TOO_LARGE: row(413, 'The body is too large.'),
  // Clients compare the message or the code, and some only the message.
  PERSISTED_QUERY_NOT_SUPPORTED: row(400, 'PersistedQueryNotSupported', { jsonStatus: 200 }),
  RATE_LIMITED: row(429, 'Too many requests. Retry after the time in the Retry-After header.', {
    headers: { 'Retry-After': '1' },
  }),
  REQUEST_TIMEOUT: row(408, 'The request did not arrive in time. Send it again on a new connection.'),
  SEQUENCE_TOO_LARGE: row(400, 'The sequence of a delivery exceeds 2147483647. Select `sequenceNumber` instead.', {
    jsonStatus: 200,
  }),
  SERVICE_UNAVAILABLE: row(503, 'The service is unavailable. Retry after the time in the Retry-After header.', retry),
  UNAUTHENTICATED: row(401, 'The credentials are missing or invalid.', {
    headers: { 'WWW-Authenticate': 'ApiKey realm="deedwire"' },
  }),
  UNSUPPORTED_MEDIA_TYPE: row(
    415,
    'The media type, character set or encoding of the body is not supported. Send application/json in UTF-8, uncompressed.',
    { headers: { 'Accept-Encoding': 'identity' } },
  ),
  UNSUPPORTED_SCHEMA_VERSION: row(400, 'The schema version is not served.'),
  WRONG_INTERFACE: row(403, 'The API key belongs to another interface. Use a key of this one.'),
} as const satisfies Record<string, ErrorRow>;

/** The value of `extensions.code`. */
export type ErrorCode = keyof typeof errorTable;

export type ResponseMediaType = 'application/graphql-response+json' | 'application/json';

/** The status of a response that has this error and no `data`. */
export function statusOf(code: ErrorCode, mediaType: ResponseMediaType): number {
  const { status, jsonStatus } = errorTable[code];
  return mediaType === 'application/json' ? jsonStatus : status;
}
