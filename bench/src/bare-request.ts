import type { Dispatcher } from 'undici';

type BareRequest = Pick<Dispatcher.DispatchOptions, 'path' | 'headers' | 'body'>;

/**
 * Sends a POST with the fewest steps that undici allows: no deadline, no limit, no check of the URL or the address. Resolves when
 * the whole response has arrived.
 */
export function dispatch(dispatcher: Dispatcher, request: BareRequest): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let bytes = 0;
    dispatcher.dispatch(
      { method: 'POST', ...request },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
        },
        onResponseEnd: () => resolve({ status, bytes }),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}
