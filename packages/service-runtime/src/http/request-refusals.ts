import type { IncomingMessage } from 'node:http';
import { headerValues } from './header-values.ts';
import type { HttpLimits } from './http-limits.ts';
import type { ParserError } from './received-header-bytes.ts';
import type { Refusal } from './refusal.ts';

export const unknownExpectation: Refusal = {
  code: 'EXPECTATION_FAILED',
  message: 'The Expect header is not supported. Send "100-continue", or omit the header.',
};

export const noTunnel: Refusal = {
  code: 'METHOD_NOT_ALLOWED',
  message: 'CONNECT is not supported. This server is not a proxy.',
};

/** The found number is not exact, because the address may have closed a connection since. */
export function tooManyConnections(limit: number): Refusal {
  const message = `Your address has more than ${limit} open connections without a valid API key; at most ${limit} are allowed. Close some of them, and send several requests on each.`;
  return { code: 'RATE_LIMITED', message };
}

export function tooManyConnectionsOfClient(limit: number): Refusal {
  const message = `Your client has ${limit} open connections in use; at most ${limit} are allowed. Send several requests on each connection, one after the other.`;
  return { code: 'RATE_LIMITED', message };
}

/** Refuses requests whose Host header is missing or repeated (RFC 9112, 3.2). */
export function refusalOfRequest({ rawHeaders, httpVersion }: IncomingMessage): Refusal | null {
  const hosts = headerValues(rawHeaders, 'host').length;
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return null;
  const message = `The request has ${hosts} Host headers. Send exactly one.`;
  return { code: 'BAD_REQUEST', message };
}

/**
 * Explains an error of Node's HTTP parser.
 *
 * @param headerBytes how large the headers are at least. Null if unknown.
 */
export function refusalOfError(
  { code }: ParserError,
  { maxHeaderSize, headersTimeout, requestTimeout }: HttpLimits,
  { isInBody, headerBytes }: { isInBody: boolean; headerBytes: number | null },
): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const allowed = maxHeaderSize.toLocaleString('en');
      const found = headerBytes === null ? `more than ${allowed}` : `at least ${headerBytes.toLocaleString('en')}`;
      return {
        code: 'HEADERS_TOO_LARGE',
        message: `The request line and the headers have ${found} bytes; at most ${allowed} are allowed. Send fewer or shorter headers.`,
      };
    }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return {
        code: 'PAYLOAD_TOO_LARGE',
        message: 'The chunk extensions of the body have more than 16,384 bytes; at most 16,384 are allowed. Send none.',
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        code: 'REQUEST_TIMEOUT',
        message: isInBody
          ? `The request was not complete after ${requestTimeout / 1000} seconds. Send it again on a new connection.`
          : `The headers of the request were not complete after ${headersTimeout / 1000} seconds. Send it again on a new connection.`,
      };
    case undefined:
    default:
      return { code: 'BAD_REQUEST', message: 'The request is not valid HTTP/1.1. Check its syntax and its framing.' };
  }
}
