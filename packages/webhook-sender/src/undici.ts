import { createRequire } from 'node:module';
import type * as Undici from 'undici';

// undici has no entry point for less than all of it: fetch, caches, mocks and proxies, which take 13 MB of memory.
const require = createRequire(import.meta.url);

export const Client: typeof Undici.Client = require('undici/lib/dispatcher/client.js');
export type Client = Undici.Client;

export const errors: typeof Undici.errors = require('undici/lib/core/errors.js');

const symbols: { kQueue: symbol; kPendingIdx: symbol } = require('undici/lib/core/symbols.js');

/** The headers of the request that the client is about to write, names and values in turn. undici writes what this array contains. */
export function headersToWrite(client: Client): string[] {
  const queue: { headers: string[] }[] = Reflect.get(client, symbols.kQueue);
  const request = queue[Number(Reflect.get(client, symbols.kPendingIdx))];
  if (request === undefined) throw new TypeError('The queue of undici has no request to write.');
  return request.headers;
}
