import type { IncomingMessage } from 'node:http';
import { headerValues } from '@deedwire/service-runtime';
import { RequestError } from '../errors/request-error.ts';
import { wrongMethod } from '../errors/wrong-method.ts';
import { isUtf8 } from './response-media-type.ts';

/**
 * Checks the request head: method, media type, encoding and declared length of the body.
 *
 * @throws {RequestError} if the request cannot be accepted.
 */
export function checkHead(request: IncomingMessage, limits: { bodyBytes: number }): void {
  if (request.method !== 'POST') throw notPost(request);

  const contentTypes = headerValues(request.rawHeaders, 'content-type');
  if (contentTypes.length !== 1 || !contentTypes.every(isJsonInUtf8)) throw new RequestError('UNSUPPORTED_MEDIA_TYPE');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new RequestError('UNSUPPORTED_MEDIA_TYPE');

  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.bodyBytes) throw tooLarge(declared.toLocaleString('en'), limits);
}

function notPost({ method, url = '' }: IncomingMessage): RequestError {
  if (method !== 'GET') return wrongMethod('POST');
  const extensions = URL.parse(url, 'http://localhost')?.searchParams.get('extensions');
  // The probe of a client with automatic persisted queries, which then sends the document with POST.
  if (extensions?.includes('"persistedQuery"') === true) return new RequestError('PERSISTED_QUERY_NOT_SUPPORTED');
  const advice = ' In urql, set preferGetMethod, and preferGetForPersistedQueries of persistedExchange, to false.';
  return wrongMethod('POST', advice);
}

/** @param found the size of the body, or `at least` the size of the part that was read */
export function tooLarge(found: string, { bodyBytes }: { bodyBytes: number }): RequestError {
  const message = `The body has ${found} bytes; at most ${bodyBytes.toLocaleString('en')} are allowed.`;
  return new RequestError('PAYLOAD_TOO_LARGE', { message });
}

function isJsonInUtf8(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  if (type.toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.toLowerCase() !== 'charset' || isUtf8(value);
  });
}
