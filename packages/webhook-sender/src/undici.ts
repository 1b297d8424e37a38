import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Undici from 'undici';

// undici has no entry point for less than all of it: fetch, caches, mocks and proxies, which take 13 MB of memory.
const require = createRequire(import.meta.url);

export const Client: typeof Undici.Client = require('undici/lib/dispatcher/client.js');
export type Client = Undici.Client;

export const errors: typeof Undici.errors = require('undici/lib/core/errors.js');

const symbols: { kQueue: symbol; kPendingIdx: symbol; kParser: symbol } = require('undici/lib/core/symbols.js');

/** The headers of the request that the client is about to write, names and values in turn. undici writes what this array contains. */
export function headersToWrite(client: Client): string[] {
  const queue: { headers: string[] }[] = Reflect.get(client, symbols.kQueue);
  const request = queue[Number(Reflect.get(client, symbols.kPendingIdx))];
  if (request === undefined) throw new TypeError('The queue of undici has no request to write.');
  return request.headers;
}

interface Parser {
  /** Null once the socket has closed. */
  readonly ptr: number | null;
  readonly llhttp: { llhttp_get_error_reason(ptr: number): number; readonly memory: { readonly buffer: ArrayBuffer } };
  onHeadersComplete: (status: number, upgrade: boolean, keepAlive: boolean) => number;
}

/**
 * Passes each interim response to the handler of the request. The parser closes the connection for status 100, which servers may send
 * unasked (RFC 9110, section 15.2), and for 101 with `Upgrade`. Here, it takes 100 for 102. Call once the client has the socket.
 */
export function passInterimResponses(socket: Socket): void {
  const parser: Parser = Reflect.get(socket, symbols.kParser);
  const onHeadersComplete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, _upgrade, keepAlive) =>
    onHeadersComplete(status === 100 ? 102 : status, false, keepAlive);
}

/**
 * What the parser found wrong in a response, in the words of llhttp. Null if nothing. Ask before the socket closes. The error of undici
 * does not have it if `Content-Length` came before.
 */
export function parserReason(socket: Socket): string | null {
  const parser: Parser | null | undefined = Reflect.get(socket, symbols.kParser);
  if (!parser || parser.ptr === null) return null;
  const { llhttp, ptr } = parser;
  const start = llhttp.llhttp_get_error_reason(ptr);
  if (start === 0) return null;
  const bytes = Buffer.from(llhttp.memory.buffer, start);
  return bytes.toString('latin1', 0, bytes.indexOf(0));
}
