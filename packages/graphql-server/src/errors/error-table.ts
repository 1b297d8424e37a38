interface ErrorRow {
  /** The status with `application/graphql-response+json`. */
  status: number;
  /** The status with `application/json`, where a request that GraphQL itself refuses is answered with 200. */
  jsonStatus: number;
  /** What is said when nothing more exact is known. */
  message: string;
  headers: Readonly<Record<string, string>>;
}

function row(status: number, message: string, more: Partial<ErrorRow> = {}): ErrorRow {
  return { status, jsonStatus: status, message, headers: {}, ...more };
}

/** In seconds. Long enough for a database to fail over. */
const retry = { headers: { 'Retry-After': '5' } };

/** Every code that an error of either interface can carry, and the answer without `data` that it leads to. */
export const errorTable = {
  BAD_REQUEST: row(400, 'The body is not a GraphQL request.'),
  BAD_USER_INPUT: row(400, 'An argument or a variable is not acceptable.', { jsonStatus: 200 }),
  GRAPHQL_PARSE_FAILED: row(400, 'The document is not GraphQL.', { jsonStatus: 200 }),
  GRAPHQL_VALIDATION_FAILED: row(400, 'The document does not fit the schema.', { jsonStatus: 200 }),
  INTERNAL_SERVER_ERROR: row(500, 'Something went wrong on our side. Quote the request id when you report it.'),
  METHOD_NOT_ALLOWED: row(405, 'Requests are sent with POST.', { headers: { Allow: 'POST' } }),
  NOT_ACCEPTABLE: row(406, 'Accept application/graphql-response+json or application/json, in UTF-8.'),
  NOT_FOUND: row(404, 'There is nothing at this path.'),
  OPERATION_TIMEOUT: row(503, 'The operation took too long. What it was to change may have been changed.', retry),
  OPERATION_TOO_COMPLEX: row(400, 'The operation asks for too much at once.'),
  PAYLOAD_TOO_LARGE: row(413, 'The body is too large.'),
  REQUEST_TIMEOUT: row(408, 'The request did not arrive in time.', { headers: { Connection: 'close' } }),
  SERVICE_UNAVAILABLE: row(503, 'The service cannot answer now. Try again later.', retry),
  UNAUTHENTICATED: row(401, 'The credentials are missing or not valid.', {
    headers: { 'WWW-Authenticate': 'ApiKey realm="deedwire"' },
  }),
  UNSUPPORTED_MEDIA_TYPE: row(415, 'Send the body as application/json in UTF-8, without a content encoding.', {
    headers: { 'Accept-Encoding': 'identity' },
  }),
  UNSUPPORTED_SCHEMA_VERSION: row(400, 'This schema version is not served.'),
  WRONG_INTERFACE: row(403, 'These credentials belong to the other interface.'),
} as const satisfies Record<string, ErrorRow>;

/** The value of `extensions.code`. */
export type ErrorCode = keyof typeof errorTable;

export type ResponseMediaType = 'application/graphql-response+json' | 'application/json';

/** The status of an answer without `data` that fails with this code. */
export function statusOf(code: ErrorCode, mediaType: ResponseMediaType): number {
  const { status, jsonStatus } = errorTable[code];
  return mediaType === 'application/json' ? jsonStatus : status;
}
