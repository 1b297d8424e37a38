import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors/request-error.ts';
import { isUtf8 } from './response-media-type.ts';

/** Refuses by what stands before the body: the method, how the body is written, how long it says that it is. */
export function checkHead(request: IncomingMessage, limits: { bodyBytes: number }): void {
  if (request.method !== 'POST') throw new RequestError('METHOD_NOT_ALLOWED');

  const contentTypes = request.headersDistinct['content-type'] ?? [];
  if (contentTypes.length !== 1 || !contentTypes.every(isJsonInUtf8)) throw new RequestError('UNSUPPORTED_MEDIA_TYPE');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new RequestError('UNSUPPORTED_MEDIA_TYPE');

  if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) throw tooLarge(limits);
}

export function tooLarge({ bodyBytes }: { bodyBytes: number }): RequestError {
  return new RequestError('PAYLOAD_TOO_LARGE', { message: `The body is larger than ${bodyBytes} bytes.` });
}

function isJsonInUtf8(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  if (type.toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.toLowerCase() !== 'charset' || isUtf8(value);
  });
}
