import { RequestError } from './request-error.ts';

/** @param allowed methods, as in the header `Allow` */
export function wrongMethod(allowed: string, advice = ''): RequestError {
  const message = `This method is not allowed. Send requests with ${allowed}.${advice}`;
  return new RequestError('METHOD_NOT_ALLOWED', { message, headers: { Allow: allowed } });
}
